import { rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { inlineYaml } from './yaml-parser.ts'

const texts: [text: string, message: string][] = [
  ['{', 'yaml: line 1: did not find expected node content'],
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['{a: b', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['a: b\n  c: d', 'yaml: line 2: mapping values are not allowed in this context'],
  ['\ta: b', 'yaml: found character that cannot start any token'],
  ['@a', 'yaml: found character that cannot start any token'],
  ["a: 'x", 'yaml: found unexpected end of stream'],
]
for (const [text, message] of texts)
  test(`${JSON.stringify(text)}: ${message}`, async () => {
    await rejects(async () => inlineYaml.parse(text, new AbortController().signal), { message })
  })
