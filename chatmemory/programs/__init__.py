"""Programs written against contracts; ``chatmemory_layers`` wires them."""
