import { equal } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { commandText, jsonPatch, kubectl, mergePatch, recreateWith, shellWord } from './fix-command.ts'

const words: readonly string[] = [
  'web',
  'system:node:a',
  'a b',
  "it's",
  '$(reboot)',
  '`reboot`',
  'a;b|c&d>e<f',
  '"quoted"',
  'line\nbreak',
  '*',
  '',
  String.raw`back\slash`,
]
for (const word of words)
  test(`a shell passes on ${JSON.stringify(word)} unchanged`, () => {
    const printed = execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })
    equal(printed, word)
  })

test('commands name the namespace of namespaced objects', () => {
  equal(kubectl('shop', 'delete', 'pod', 'a b'), "kubectl delete pod 'a b' -n shop")
  equal(kubectl('', 'uncordon', 'node-0'), 'kubectl uncordon node-0')
  equal(commandText(['a', 'b']), 'a b')
})

test('patches are quoted', () => {
  equal(
    jsonPatch('deployment/web', 'shop', { op: 'replace', path: '/spec/x', value: "it's" }),
    String.raw`kubectl patch deployment/web --type=json -p '[{"op":"replace","path":"/spec/x","value":"it'\''s"}]' -n shop`,
  )
  equal(mergePatch('pdb/a', 'x', { spec: 1 }), `kubectl patch pdb/a --type=merge -p '{"spec":1}' -n x`)
})

test('texts from objects have no meaning for sed', () => {
  const command = recreateWith('pvc/a', 'x', 'storageClassName: a/b.*', 'storageClassName: c&d')
  const script = command.split(' | ')[1] ?? ''
  const run = (input: string) => execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', input })
  equal(run('  storageClassName: a/b.*\n'), '  storageClassName: c&d\n')
  equal(run('  storageClassName: a/bcc\n'), '  storageClassName: a/bcc\n')
})
