"""Web server: access rules, routes and failures."""
