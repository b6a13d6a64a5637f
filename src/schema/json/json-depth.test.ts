import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonDepthMax, nestsTooDeep } from './json-depth.ts'

const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
const padding = 'x'.repeat(2 * jsonDepthMax)

const texts: [why: string, text: string, tooDeep: boolean][] = [
  ['as deep as allowed', nested(jsonDepthMax), false],
  ['deeper', nested(jsonDepthMax + 2), true],
  ['wide', JSON.stringify(Array.from({ length: jsonDepthMax }, () => [{}])), false],
  ['brackets in text', JSON.stringify({ a: '["\\"['.repeat(jsonDepthMax), b: [1] }), false],
  ['long text before deep nesting', `["${padding}\\"",${nested(jsonDepthMax)}]`, true],
  ['text without an end', `["${padding}`, false],
]
for (const [why, text, tooDeep] of texts)
  test(`nesting: ${why}`, () => equal(nestsTooDeep(new TextEncoder().encode(text)), tooDeep))
