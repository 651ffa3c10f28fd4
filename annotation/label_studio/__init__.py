"""Label Studio: the client, the projects, the page that annotators see."""
