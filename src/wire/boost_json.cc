// Boost.JSON as source, so that no library has to be installed where the program runs.
#include <boost/json/src.hpp>
