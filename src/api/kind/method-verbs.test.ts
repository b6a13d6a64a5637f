import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { methodVerbs } from './method-verbs.ts'

const cases: [method: string, verb: string | undefined][] = [
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['CONNECT', undefined],
  ['get', undefined],
]
for (const [method, verb] of cases)
  test(`${method} needs the verb ${verb ?? 'of no rule'}`, () => equal(methodVerbs[method], verb))
