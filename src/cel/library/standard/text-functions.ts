// Text: prefixes, suffixes, substrings and patterns.
import { global, member, inSteps, type CallSteps, type Functions } from '../../environment/function.ts'
import { boolType, stringType } from '../../types/cel-type.ts'
import { regex } from '../../regex/regex.ts'

const matches = (text: string, pattern: string): CallSteps => regex(pattern).test(text)

export const textFunctions: Functions = {
  startsWith: [
    member('starts_with_string', [stringType, stringType], boolType, (a: string, b: string) => a.startsWith(b)),
  ],
  endsWith: [member('ends_with_string', [stringType, stringType], boolType, (a: string, b: string) => a.endsWith(b))],
  contains: [member('contains_string', [stringType, stringType], boolType, (a: string, b: string) => a.includes(b))],
  matches: [
    inSteps(global, 'matches', [stringType, stringType], boolType, matches),
    inSteps(member, 'matches_string', [stringType, stringType], boolType, matches),
  ],
}
