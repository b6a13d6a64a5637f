// What is a manifest: YAML, values, lists and empty documents.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { manifestObjects, type Manifest } from './manifest.ts'

const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

const cases: readonly [name: string, manifest: Manifest, names: readonly string[]][] = [
  ['an object', map('a'), ['a']],
  ['a list of objects', [map('a'), map('b')], ['a', 'b']],
  ['a List', { apiVersion: 'v1', kind: 'List', items: [map('a'), map('b')] }, ['a', 'b']],
  [
    'a List in a List',
    { apiVersion: 'v1', kind: 'List', items: [{ ...map(''), kind: 'XList', items: [map('a')] }] },
    ['a'],
  ],
  ['a kind whose name ends with List, without items', { ...map('a'), kind: 'AllowList' }, ['a']],
  [
    'documents, one of them empty',
    '---\n# nothing\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n',
    ['a'],
  ],
]
for (const [name, manifest, names] of cases)
  test(`a manifest: ${name}`, async () =>
    deepEqual(
      (await manifestObjects(manifest)).map(({ metadata }) => metadata?.name),
      names,
    ))

test('a value that is no object is an error that shows what it has', async () => {
  await rejects(
    manifestObjects('kind: ConfigMap\n'),
    /needs an apiVersion and a kind; this one has {"kind":"ConfigMap"}/,
  )
  await rejects(manifestObjects('text'), /needs an apiVersion and a kind; this one has {}/)
  await rejects(manifestObjects({ apiVersion: 'v1', kind: 'List', items: [{}] }), /needs an apiVersion and a kind/)
})
