"""Commands of the core, one module each; a module is imported only when its command runs."""
