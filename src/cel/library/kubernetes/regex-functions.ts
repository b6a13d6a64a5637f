// Functions that find matches of a pattern.
import { inSteps, member, type CallSteps, type Functions } from '../../environment/function.ts'
import { regex } from '../../regex/regex.ts'
import { intType, listOf, stringType } from '../../types/cel-type.ts'

function* find(text: string, pattern: string): CallSteps {
  for (const match of regex(pattern).matches(text))
    if (match === undefined) yield
    else return text.slice(match.start, match.end)
  return ''
}

const matchesPerStep = 256

function* findAll(text: string, pattern: string, limit = -1n): CallSteps {
  const found: string[] = []
  const countMax = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)
  if (countMax === 0) return found
  for (const match of regex(pattern).matches(text)) {
    if (match !== undefined) found.push(text.slice(match.start, match.end))
    if (found.length === countMax) break
    if (match === undefined || found.length % matchesPerStep === 0) yield
  }
  return found
}

export const regexFunctions: Functions = {
  find: [inSteps(member, 'string_find_string', [stringType, stringType], stringType, find)],
  findAll: [
    inSteps(member, 'string_find_all_string', [stringType, stringType], listOf(stringType), findAll),
    inSteps(member, 'string_find_all_string_int', [stringType, stringType, intType], listOf(stringType), findAll),
  ],
}
