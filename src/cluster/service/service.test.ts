import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { installService, uninstallService, type ServiceDeps } from './install-service.ts'
import { unitMark, unitText, unitWord } from './systemd-unit.ts'

const { signal } = new AbortController()

const words: [word: string, quoted: string][] = [
  ['--bind=192.0.2.1', '--bind=192.0.2.1'],
  ['a b', '"a b"'],
  ['', '""'],
  ['50%', '50%%'],
  ['$HOME', '$$HOME'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  [';', '";"'],
]
for (const [word, quoted] of words)
  test(`the word ${JSON.stringify(word)} in a unit`, () => equal(unitWord(word), quoted))

test('a word cannot add lines to a unit', () =>
  throws(() => unitText('x', ['a\nExecStart=b']), /"a\\nExecStart=b" contains a control character/))

test('a unit runs the program and does not end its containers', () => {
  const text = unitText('Coxswain agent', ['/usr/bin/coxswain', 'agent', '--node-labels', 'a=b c'])
  match(text, /^ExecStart=\/usr\/bin\/coxswain agent --node-labels "a=b c"$/m)
  match(text, /^KillMode=process$/m)
  // With Requires= a stop of the target would stop the cluster.
  match(text, /^Wants=network-online\.target\nAfter=network-online\.target$/m)
  equal(text.startsWith(`${unitMark}\n[Unit]\n`), true)
})

function start(present?: string, failing = '') {
  const files = new Map(present === undefined ? [] : [['/units/coxswain.service', present]])
  const did: string[] = []
  const deps: ServiceDeps = {
    directory: '/units',
    files: {
      read: (path) => Promise.resolve(files.has(path) ? new TextEncoder().encode(files.get(path)) : undefined),
      write(path, content, mode) {
        files.set(path, String(content))
        return Promise.resolve(void did.push(`write ${path} ${mode?.toString(8)}`))
      },
      remove(path) {
        files.delete(path)
        return Promise.resolve(void did.push(`remove ${path}`))
      },
    },
    processes: {
      run(command, args) {
        did.push([command, ...args].join(' '))
        return Promise.resolve({
          code: args[0] === failing ? 1 : 0,
          stdout: '',
          stderr: args[0] === failing ? 'no\n' : '',
        })
      },
    },
  }
  return { deps, did, files }
}

test('a service is written, enabled and started', async () => {
  for (const present of [undefined, `${unitMark}\nold`]) {
    const { deps, did, files } = start(present)
    equal(await installService('coxswain', 'new', deps, signal), '/units/coxswain.service')
    equal(files.get('/units/coxswain.service'), 'new')
    deepEqual(did, [
      'write /units/coxswain.service 644',
      'systemctl daemon-reload',
      'systemctl enable coxswain',
      'systemctl restart coxswain',
    ])
  }
})

test('a service is stopped and removed', async () => {
  const { deps, did, files } = start(`${unitMark}\nold`)
  equal(await uninstallService('coxswain', deps, signal), '/units/coxswain.service')
  equal(files.size, 0)
  deepEqual(did, ['systemctl disable --now coxswain', 'remove /units/coxswain.service', 'systemctl daemon-reload'])
  equal(await uninstallService('coxswain', deps, signal), undefined)
})

test('a unit of another program stays as it is', async () => {
  const { deps, did } = start('[Unit]\n')
  const error = /\/units\/coxswain\.service was not written by coxswain service install; it stays as it is/
  await rejects(installService('coxswain', 'new', deps, signal), error)
  await rejects(uninstallService('coxswain', deps, signal), error)
  deepEqual(did, [])
})

test('errors of systemctl are shown', async () => {
  const { deps } = start(undefined, 'enable')
  await rejects(installService('coxswain', 'new', deps, signal), /^Error: systemctl enable coxswain: no$/)
})
