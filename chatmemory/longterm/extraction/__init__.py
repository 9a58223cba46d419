"""What is worth remembering, found in what was said: by rules in English and Chinese, offline, or by a skill."""
