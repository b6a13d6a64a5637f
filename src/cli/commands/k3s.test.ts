// `coxswain k3s server` in this process, on a simulated node.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { connect } from '../../cluster/client/connect.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { k3sOptions, k3sServerOf } from '../options/k3s-options.ts'
import { runK3sServer } from './k3s.ts'
import { up } from './up.ts'
import { typed } from './typed.harness.ts'

const home = await mkdtemp(join(tmpdir(), 'coxswain-k3s-'))
after(() => rm(home, { recursive: true, force: true }))

test('a kubeconfig, the line by which programs wait, and the folder of manifests', async () => {
  const manifests = join(home, 'data', 'server', 'manifests')
  await mkdir(manifests, { recursive: true, mode: 0o700 })
  await mkdir(join(home, 'output'))
  await writeFile(
    join(manifests, 'a.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied, namespace: default }\n',
  )
  const path = join(home, 'output', 'kubeconfig.yaml')
  await writeFile(path, 'of another cluster')
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  let complained = ''
  const environment = { K3S_KUBECONFIG_MODE: '644', K3S_KUBECONFIG_OUTPUT: path, K3S_TOKEN: 'secret' }
  const server = k3sServerOf(
    {
      'bind-address': '127.0.0.1',
      'data-dir': join(home, 'data'),
      disable: 'traefik,coredns',
      'https-listen-port': '0',
      'tls-san': 'cluster.test',
    },
    environment,
  )
  const terminal = {
    out: () => {},
    err(text: string) {
      complained += text
      if (/^Node controller sync successful$/m.test(complained)) ready.resolve()
    },
    isTerminal: false,
    environment,
    signal: stopping.signal,
    startedMs: 0,
  }
  const ended = runK3sServer(server, terminal, false)
  const code = await Promise.race([ready.promise, ended])
  equal(code, undefined, complained)
  match(complained, /^k3s: coredns is part of Coxswain and stays\nk3s: \$K3S_TOKEN has no effect\n/)
  ok(!complained.includes('secret'))
  equal((await stat(path)).mode & 0o777, 0o644)
  const text = await readFile(path, 'utf8')
  deepEqual(
    [...text.matchAll(/^- name: (.*)$/gm)].map(([, name]) => name),
    ['default', 'default', 'default'],
  )
  match(parseKubeconfig(text).server, /^https:\/\/127\.0\.0\.1:\d+$/)
  {
    await using connection = await connect(path, { name: 'test', signal: stopping.signal })
    const ctx = context(stopping.signal)
    while ((await connection.client.of(configMap).find('applied', 'default', ctx)) === undefined)
      await realClock.sleep(50, stopping.signal)
  }
  stopping.abort()
  equal(await ended, 0)
})

test('flags of k3s become flags that coxswain up has', () => {
  const all = Object.fromEntries(Object.keys(k3sOptions).map((name) => [name, 'x']))
  const { flags } = k3sServerOf({ ...all, disable: 'servicelb,traefik', 'write-kubeconfig-mode': '600' }, {})
  for (const name of Object.keys(flags)) ok(name in up.options, name)
})

test('what is no command or flag of k3s server here is named', async () => {
  const rows: [argv: string[], message: RegExp][] = [
    [['k3s'], /the operand is server, not ""/],
    [['k3s', 'agent'], /the operand is server, not "agent"/],
    [['k3s', 'server', '--flannel-backend=none'], /unknown flag --flannel-backend/],
    [['k3s', 'server', '--disable=helm'], /--disable "helm" is none of/],
  ]
  for (const [argv, message] of rows) {
    const { code, complained } = await typed(argv, {})
    equal(code, 2)
    match(complained, message)
  }
})
