from spotter.program import main

main()
