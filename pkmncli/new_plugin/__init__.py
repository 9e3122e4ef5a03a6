"""Packages of new plugins, written from templates by ``pkmn plugins new``."""
