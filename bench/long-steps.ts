// The longest step of a cluster's event loop while it handles objects and requests that once blocked it for seconds.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { get } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accessOf, type Access } from '../test/access.ts'
import { rawCalls, type RawCalls } from '../test/flows/raw-calls.ts'
import { newFolder, startProcess, type RunningProcess } from '../test/process.ts'
import { until } from '../test/until.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { realClock } from '../src/base/time/clock.ts'
import { Authority } from '../src/pki/authority.ts'
import { nodeCrypto } from '../src/platform/node/crypto.ts'
import type { Bench } from './bench.ts'

const core = '/api/v1/namespaces/default'
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const labels = { app: 'long' }
const turnLog = fileURLToPath(new URL('long-steps/turn-log.ts', import.meta.url))
/** For what controllers and agents do with an object. */
const settleMs = 5_000
const watchesOfCase = 562

interface Stage {
  readonly calls: RawCalls
  readonly access: Access
}

const post = async ({ calls }: Stage, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await calls.call('POST', path, body)
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(answer).slice(0, 300)}`)
}

const inTurns = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  const each = 16
  for (let start = 0; start < count; start += each)
    await Promise.all(numbers(Math.min(each, count - start)).map((index) => work(start + index)))
}

const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
const backend = { service: { name: 'long', port: { number: 80 } } }
/** Of 60 KB. */
const longSelector = `app in (${numbers(5_000)
  .map((index) => `value-${index}`)
  .join(',')})`
const { certificate, key } = Authority.create('ca', {
  clock: realClock,
  random: systemRandom,
  crypto: nodeCrypto,
}).issue({ subject: { commonName: 'server', organizations: [] }, uses: ['server'] })
const keyPair = { 'tls.crt': btoa(certificate), 'tls.key': btoa(key) }

const cases: readonly (readonly [
  name: string,
  prepare: (stage: Stage) => Promise<void>,
  work: (stage: Stage) => Promise<void>,
])[] = [
  [
    'a Service with 6,000 ports and one endpoint',
    (stage) =>
      post(stage, `${core}/pods`, {
        metadata: { name: 'long', labels },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
    (stage) =>
      post(stage, `${core}/services`, {
        metadata: { name: 'long' },
        spec: { selector: labels, ports: numbers(6_000).map((index) => ({ name: `p${index}`, port: 1 + index })) },
      }),
  ],
  [
    'an Ingress with 4,000 entries of tls, each with its Secret',
    (stage) =>
      inTurns(4_000, (index) =>
        post(stage, `${core}/secrets`, { metadata: { name: `t${index}` }, type: 'kubernetes.io/tls', data: keyPair }),
      ),
    (stage) =>
      post(stage, ingresses, {
        metadata: { name: 'tls' },
        spec: {
          ingressClassName: 'coxswain',
          defaultBackend: backend,
          tls: numbers(4_000).map((index) => ({ hosts: [`h${index}.example.com`], secretName: `t${index}` })),
        },
      }),
  ],
  [
    '180,000 paths of Ingresses',
    async () => {},
    async (stage) => {
      for (const index of numbers(36))
        await post(stage, ingresses, {
          metadata: { name: `paths-${index}` },
          spec: {
            ingressClassName: 'coxswain',
            rules: [
              {
                host: `p${index}.example.com`,
                http: { paths: numbers(5_000).map((path) => ({ path: `/${path}`, pathType: 'Prefix', backend })) },
              },
            ],
          },
        })
    },
  ],
  [
    '200 CronJobs on 31 February',
    async () => {},
    (stage) =>
      inTurns(200, (index) =>
        post(stage, '/apis/batch/v1/namespaces/default/cronjobs', {
          metadata: { name: `never-${index}` },
          spec: {
            schedule: '0 0 31 2 *',
            timeZone: 'Europe/Berlin',
            jobTemplate: {
              spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
            },
          },
        }),
      ),
  ],
  [
    `${watchesOfCase} watches with selectors, and a write`,
    async ({ calls, access }) => {
      for (const index of numbers(watchesOfCase)) {
        const values = numbers(30).map((each) => `v${index}-${each}`)
        const path = `${core}/configmaps?watch=1&labelSelector=${encodeURIComponent(`app in (${values.join(',')})`)}`
        // It ends with the server.
        get({ ...access, path, agent: false }, (response) => response.resume()).on('error', () => {})
      }
      const counted = /apiserver_longrunning_requests\{[^}]*resource="configmaps"[^}]*\} (\d+)/
      const watches = async () => Number(counted.exec(String((await calls.call('GET', '/metrics')).body))?.[1] ?? 0)
      await until(async () => (await watches()) >= watchesOfCase)
    },
    (stage) => inTurns(50, (index) => post(stage, `${core}/configmaps`, { metadata: { name: `w${index}`, labels } })),
  ],
  [
    'lists of 3,000 objects with a selector of 60 KB',
    (stage) => inTurns(3_000, (index) => post(stage, `${core}/endpoints`, { metadata: { name: `e${index}`, labels } })),
    async ({ calls }) => {
      for (const _ of numbers(3))
        await calls.call('GET', `${core}/endpoints?labelSelector=${encodeURIComponent(longSelector)}`)
    },
  ],
  [
    'an object with 10,000 owner references',
    async () => {},
    (stage) =>
      post(stage, `${core}/configmaps`, {
        metadata: {
          name: 'owned',
          ownerReferences: numbers(10_000).map((index) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: `o${index}`,
            uid: `u${index}`,
          })),
        },
      }),
  ],
  [
    "the web UI's flow of an object, and the whole flow record",
    async () => {},
    async ({ calls }) => {
      await calls.call('GET', '/ui/api/flow?version=v1&resource=configmaps&namespace=default&name=owned')
      await calls.call('GET', '/coxswain/v1/flow-events')
    },
  ],
]

async function longestTurn(running: RunningProcess): Promise<string> {
  const before = running.logged().length
  process.kill(running.pid, 'SIGUSR2')
  const line = () => /longest turn ([\d.]+) ms\n/.exec(running.logged().slice(before))
  await until(() => Promise.resolve(line() !== null))
  return line()?.[1] ?? ''
}

export const longStepsBench: Bench = {
  name: 'long-steps',
  async *run() {
    const folder = await newFolder()
    const kubeconfig = join(folder, 'kubeconfig')
    const flags = ['--port', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig, '--store', 'memory']
    const simulated = ['--runtime', 'simulated', '--nodes', '2']
    const ingress = ['--ingress', 'on', '--ingress-http-port', '0', '--ingress-https-port', '0']
    const env = { ...process.env, NODE_OPTIONS: `--import=${turnLog}` }
    await using up = await startProcess(['up', ...flags, ...simulated, ...ingress], { env })
    try {
      await using calls = rawCalls(readFileSync(kubeconfig, 'utf8'))
      const stage = { calls, access: accessOf(kubeconfig) }
      const signal = new AbortController().signal
      await realClock.sleep(settleMs, signal)
      for (const [name, prepare, work] of cases) {
        await prepare(stage)
        await realClock.sleep(settleMs, signal)
        await longestTurn(up)
        await work(stage)
        await realClock.sleep(settleMs, signal)
        yield `${name}: longest step ${await longestTurn(up)} ms`
      }
    } finally {
      // The measurement keeps it alive.
      await up.end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    }
  },
}
