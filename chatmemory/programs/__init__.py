"""Programs written against contracts; ``chatmemory_layers.main`` wires them."""
