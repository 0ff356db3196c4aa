// The opcodes of pickles that plain data is made of, and those that are known and refused. Source: CPython's
// Lib/pickletools.py.
#pragma once
#include "base/types.h"

namespace spotter::read {

enum PickleOp : u8 {
  kProto = 0x80,
  kFrame = 0x95,
  kStop = '.',
  kMark = '(',
  kNoneValue = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8A,
  kBinFloat = 'G',
  kShortBinUnicode = 0x8C,
  kBinUnicode = 'X',
  kBinUnicode8 = 0x8D,
  kShortBinBytes = 'C',
  kBinBytes = 'B',
  kBinBytes8 = 0x8E,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kEmptySet = 0x8F,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kBinGet = 'h',
  kLongBinGet = 'j',
};

// Opcodes that are known and refused.
struct RefusedOp {
  u8 op;
  const char* name;
  const char* why;
};
inline constexpr const char* kLooksUp = "looks up a class or a function";
inline constexpr const char* kBuilds = "makes an object";
inline constexpr const char* kElsewhere = "needs data from elsewhere";
inline constexpr const char* kOld = "is of protocol 0 or 1";
inline constexpr const char* kUnused = "is not written for plain data";
inline constexpr RefusedOp kRefused[] = {
    {'c', "GLOBAL", kLooksUp},
    {0x93, "STACK_GLOBAL", kLooksUp},
    {0x82, "EXT1", kLooksUp},
    {0x83, "EXT2", kLooksUp},
    {0x84, "EXT4", kLooksUp},
    {'R', "REDUCE", "calls a function"},
    {'i', "INST", kBuilds},
    {'o', "OBJ", kBuilds},
    {0x81, "NEWOBJ", kBuilds},
    {0x92, "NEWOBJ_EX", kBuilds},
    {'b', "BUILD", kBuilds},
    {'P', "PERSID", kElsewhere},
    {'Q', "BINPERSID", kElsewhere},
    {0x97, "NEXT_BUFFER", kElsewhere},
    {0x98, "READONLY_BUFFER", kElsewhere},
    {0x96, "BYTEARRAY8", kUnused},
    {0x8B, "LONG4", kUnused},
    {'0', "POP", kUnused},
    {'1', "POP_MARK", kUnused},
    {'2', "DUP", kUnused},
    {'I', "INT", kOld},
    {'L', "LONG", kOld},
    {'F', "FLOAT", kOld},
    {'S', "STRING", kOld},
    {'T', "BINSTRING", kOld},
    {'U', "SHORT_BINSTRING", kOld},
    {'V', "UNICODE", kOld},
    {'d', "DICT", kOld},
    {'l', "LIST", kOld},
    {'p', "PUT", kOld},
    {'g', "GET", kOld},
};

}  // namespace spotter::read
