// In batches (tools/batches) these names, which many files have for themselves, are another one in each file: CMake
// has this before each of them, and makes SPOTTER_FILE a word that no other file has. So no header may have them.
#define SPOTTER_OWN_NAME_OF(name, file) name##_##file
#define SPOTTER_OWN_NAME(name, file) SPOTTER_OWN_NAME_OF(name, file)
#define find_candidates SPOTTER_OWN_NAME(find_candidates, SPOTTER_FILE)
#define kColumns SPOTTER_OWN_NAME(kColumns, SPOTTER_FILE)
#define kParams SPOTTER_OWN_NAME(kParams, SPOTTER_FILE)
#define kPartColumns SPOTTER_OWN_NAME(kPartColumns, SPOTTER_FILE)
#define kTables SPOTTER_OWN_NAME(kTables, SPOTTER_FILE)
#define map_trace SPOTTER_OWN_NAME(map_trace, SPOTTER_FILE)
