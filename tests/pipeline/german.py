"""What people do, said in German."""

GERMAN = [
    "Zwei Frauen trinken Kaffee in einer Küche.",
    "Ein Mann öffnet die Tür und geht hinaus.",
    "Das Kind spielt mit dem Ball im Garten.",
    "Eine Katze springt auf den Tisch.",
    "Der Lehrer schreibt etwas an die Tafel.",
    "Anna setzt sich auf ihren Platz am Fenster.",
    "Jemand wirft einen Stein ins Wasser.",
    "Die Polizistin hält einen Wagen an.",
    "Drei Männer tragen ein Klavier die Treppe hinauf.",
    "Ein Hund bellt den Briefträger an.",
    "Peter schenkt seiner Mutter Blumen.",
    "Das Auto fährt rückwärts in die Garage.",
    "Eine alte Dame füttert Tauben im Park.",
    "Der Koch schneidet Zwiebeln und weint.",
]
