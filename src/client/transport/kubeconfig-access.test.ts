// Kubeconfigs: every type of credential, and no secrets in errors.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { embeddedAuthorities, readKubeconfig } from './kubeconfig-access.ts'

const { signal } = new AbortController()
const base64 = (text: string) => new TextEncoder().encode(text).toBase64()

function parts(files: Record<string, string> = {}, outputs: string[] = [], code = 0) {
  const clock = new VirtualClock()
  const ran: (Readonly<Record<string, string>> | undefined)[] = []
  return {
    clock,
    ran,
    files: {
      read: (path: string) =>
        Promise.resolve(files[path] === undefined ? undefined : new TextEncoder().encode(files[path])),
    } as never,
    processes: {
      run: (_: string, __: readonly string[], options: { environment?: Record<string, string> }) => {
        ran.push(options.environment)
        return Promise.resolve({ code, stdout: outputs.shift() ?? '', stderr: 'secret' })
      },
    } as never,
  }
}

const config = (user: string, cluster = `certificate-authority-data: ${base64('CA')}`) => `
current-context: main
contexts: [{ name: main, context: { cluster: c, user: u } }]
clusters: [{ name: c, cluster: { server: 'https://s', ${cluster} } }]
users: [{ name: u, user: ${user} }]
`

test('certificates as data and as files', async () => {
  const inside = await readKubeconfig(
    config(`{ client-certificate-data: ${base64('C')}, client-key-data: ${base64('K')} }`),
    parts(),
    signal,
  )
  deepEqual([inside.server, inside.authority, inside.certificate, inside.key], ['https://s', 'CA', 'C', 'K'])
  const files = { '/ca': 'CA2', '/c': 'C2', '/k': 'K2' }
  const beside = await readKubeconfig(
    config('{ client-certificate: /c, client-key: /k }', 'certificate-authority: /ca'),
    parts(files),
    signal,
  )
  deepEqual([beside.authority, beside.certificate, beside.key], ['CA2', 'C2', 'K2'])
})

test('tokens, and tokens in files, which are read again after a minute', async () => {
  const fixed = await readKubeconfig(config('{ token: t }'), parts(), signal)
  deepEqual(await fixed.headers(signal), { authorization: 'Bearer t' })
  const files: Record<string, string> = { '/t': 'one\n' }
  const all = parts(files)
  const rotated = await readKubeconfig(config('{ tokenFile: /t }'), all, signal)
  equal((await rotated.headers(signal))['authorization'], 'Bearer one')
  files['/t'] = 'two'
  equal((await rotated.headers(signal))['authorization'], 'Bearer one')
  await all.clock.advance('1m')
  equal((await rotated.headers(signal))['authorization'], 'Bearer two')
})

test('an exec plugin runs again when its credential has expired', async () => {
  const credential = (token: string) =>
    JSON.stringify({ kind: 'ExecCredential', status: { token, expirationTimestamp: '2030-01-01T00:10:00Z' } })
  const all = parts({}, [credential('one'), credential('two')])
  const access = await readKubeconfig(
    config('{ exec: { command: helper, args: [a], env: [{ name: X, value: y }] } }'),
    all,
    signal,
  )
  equal((await access.headers(signal))['authorization'], 'Bearer one')
  await all.clock.advance('10m')
  equal((await access.headers(signal))['authorization'], 'Bearer two')
  deepEqual(
    all.ran.map((environment) => [
      environment?.['X'],
      environment?.['KUBERNETES_EXEC_INFO']?.includes('ExecCredential'),
    ]),
    [
      ['y', true],
      ['y', true],
    ],
  )
})

test('errors do not contain secrets', async () => {
  const exec = config('{ exec: { command: helper } }')
  await rejects(readKubeconfig('', parts(), signal), /is empty/)
  await rejects(
    readKubeconfig(exec, parts({}, ['{"token":"secret"}']), signal),
    (error: Error) => !error.message.includes('secret'),
  )
  await rejects(readKubeconfig(exec, parts({}, [], 3), signal), /^KubeconfigError: helper exited with code 3/)
  await rejects(readKubeconfig(config('{}').replace('current-context: main', ''), parts(), signal), /no context ""/)
  await rejects(
    readKubeconfig(config('{}', 'insecure-skip-tls-verify: true'), parts(), signal),
    /insecure-skip-tls-verify is not supported/,
  )
  await rejects(
    readKubeconfig(config('{ client-key: /none }'), parts(), signal),
    /\/none, which the kubeconfig names, does not exist/,
  )
})

const published: readonly (readonly [what: string, text: string, authorities: string | undefined])[] = [
  ['a kubeconfig', 'clusters: [{cluster: {certificate-authority-data: Q0E=}}]', 'CA'],
  ['one without data of the authorities', 'clusters: [{cluster: {certificate-authority: /etc/ca.crt}}]', undefined],
  ['one whose data is no text', 'clusters: [{cluster: {certificate-authority-data: 5}}]', undefined],
  ['one without a cluster', 'clusters: []', undefined],
  ['one whose cluster is empty', 'clusters: [{}]', undefined],
  ['an empty text', '', undefined],
]
for (const [what, text, authorities] of published)
  test(`the authorities of ${what}`, async () => {
    if (authorities === undefined)
      await rejects(embeddedAuthorities(text), /the kubeconfig has no certificate-authority-data/)
    else equal(await embeddedAuthorities(text), authorities)
  })
