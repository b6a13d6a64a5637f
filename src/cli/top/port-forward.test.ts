import { deepEqual, equal, rejects } from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deployments } from '../../ui/terminal/state/state.harness.ts'
import { kubectlPortForward } from './port-forward.ts'

const web = { resource: deployments, namespace: 'shop', name: 'web' }
let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-forward-'))
})
after(() => rm(folder, { recursive: true }))

/** A program in place of kubectl. */
const program = async (name: string, script: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

test('kubectl runs until the signal, and its first line is reported once', async () => {
  const path = await program('runs', 'echo "Forwarding from $*"; echo "Forwarding from [::1]:8080"; exec sleep 1000')
  const stop = new AbortController()
  const ready = Promise.withResolvers<string>()
  const lines: string[] = []
  const forwarded = kubectlPortForward('/config', 'prod', path)(
    web,
    '8080:80',
    (line) => {
      lines.push(line)
      ready.resolve(line)
    },
    stop.signal,
  )
  equal(
    await ready.promise,
    'Forwarding from port-forward --kubeconfig /config --context prod --namespace shop deployment/web 8080:80',
  )
  stop.abort()
  await rejects(forwarded, { name: 'AbortError' })
  deepEqual(lines.length, 1)
})

const failures: [what: string, script: string, message: string][] = [
  [
    'cannot listen',
    'echo "Unable to listen" >&2; echo "error: unable to listen on any port" >&2; exit 1',
    'error: unable to listen on any port',
  ],
  ['ends', 'exit 3', 'kubectl ended with 3'],
  ['is killed', 'kill -9 $$', 'kubectl ended with a signal'],
]
for (const [what, script, message] of failures)
  test(`kubectl that ${what} is a failure with its last error`, async () => {
    const path = await program(what.replaceAll(' ', '-'), script)
    const forwarded = kubectlPortForward('/config', undefined, path)(web, '80', () => {}, new AbortController().signal)
    await rejects(forwarded, { message })
  })

test('without kubectl it is said', () =>
  rejects(
    kubectlPortForward('/config', undefined, 'no-such-program')(web, '80', () => {}, new AbortController().signal),
    { message: 'no-such-program is not installed' },
  ))
