"""How the site is made from the repository: pages, links, executed snippets, tables from the source."""
