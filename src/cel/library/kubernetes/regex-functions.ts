// Functions that find matches of a pattern.
import { member, type Functions } from '../../environment/function.ts'
import { intType, listOf, stringType } from '../../types/cel-type.ts'
import { regex } from '../../values/regex.ts'

function find(text: string, pattern: string): string {
  const matcher = regex(pattern).matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(text: string, pattern: string, limit = -1n): string[] {
  const matcher = regex(pattern).matcher(text)
  const countMax = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)
  const found: string[] = []
  while (found.length < countMax && matcher.find()) found.push(matcher.group() ?? '')
  return found
}

export const regexFunctions: Functions = {
  find: [member('string_find_string', [stringType, stringType], stringType, find)],
  findAll: [
    member('string_find_all_string', [stringType, stringType], listOf(stringType), findAll),
    member('string_find_all_string_int', [stringType, stringType, intType], listOf(stringType), findAll),
  ],
}
