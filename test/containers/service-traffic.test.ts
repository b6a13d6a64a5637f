// Traffic through a cluster IP while its pods are replaced, and while the process with the proxy is killed.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { existsSync, realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { after, before, test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { untilMatch } from '../until.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const libraries = ['/lib', '/lib64'].filter((path) => existsSync(path))
const address = '10.96.0.77'
const perSecond = 1_000
const responseMsMax = 20_000

/** Answers each connection with its version; after SIGTERM it serves open connections to their end. */
const program = `
const server = require('net').createServer((socket) => socket.on('error', () => {}).end(process.env.VERSION))
server.listen(8080)
process.on('SIGTERM', () => server.close())
`

function deployment(image: string, version: string) {
  // The image contains only a shell: Node.js and its libraries are mounted from this machine.
  const mounts = [[dirname(process.execPath), '/programs'], ...libraries.map((path) => [realpathSync(path), path])]
  const container = {
    name: 'c',
    image,
    command: ['/programs/node', '-e', program],
    env: [{ name: 'VERSION', value: version }],
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
    // As for every server behind a Service: connections may still arrive shortly after the endpoint was removed.
    lifecycle: { preStop: { sleep: { seconds: 2 } } },
    volumeMounts: mounts.map(([, mountPath], index) => ({ name: `v${index}`, mountPath, readOnly: true })),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          terminationGracePeriodSeconds: 10,
          containers: [container],
          volumes: mounts.map(([path], index) => ({ name: `v${index}`, hostPath: { path } })),
        },
      },
    },
  }
}

/** One connection: the text that the server sends, or the error. */
const call = (): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const socket = connect({ host: address, port: 80 })
    socket.setTimeout(responseMsMax, () => socket.destroy(new Error('no response')))
    socket.on('data', (bytes) => (text += bytes.toString()))
    socket.on('error', (error) => resolve(error.message))
    socket.on('end', () => resolve(text))
  })

const tickMs = 5
/** A busy machine opens fewer connections per second, instead of more and more at a time. */
const openMax = 200

/** Opens connections at a constant rate while `work` runs; counts the results. */
async function underLoad(work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const results = new Map<string, number>()
  const open = new Set<Promise<void>>()
  const stopping = new AbortController()
  const start = () => {
    const one: Promise<void> = call().then((text) => {
      results.set(text, (results.get(text) ?? 0) + 1)
      open.delete(one)
      return undefined
    })
    open.add(one)
  }
  const run = async () => {
    for (let beforeMs = realClock.monotonicMs(); !stopping.signal.aborted;) {
      await realClock.sleep(tickMs, stopping.signal).catch(() => {})
      const nowMs = realClock.monotonicMs()
      const due = Math.min(Math.round(((nowMs - beforeMs) * perSecond) / 1_000), openMax - open.size)
      for (let started = 0; started < due; started++) start()
      beforeMs = nowMs
    }
  }
  const running = run()
  try {
    await work()
  } finally {
    stopping.abort()
    await running
  }
  await Promise.all(open)
  return results
}

/** Waits until the three pods are ready and those that they replace are gone. */
async function threeReady(up: RealUp): Promise<void> {
  const pods = () => up.k(['get', 'pods', '-l', 'app=web', '--no-headers']).catch(() => '')
  await untilMatch(pods, /^(?:\S+ +1\/1 +Running .*\n?){3}$/)
}

inNamespaces(import.meta.url, () => {
  let up: RealUp
  before(async () => {
    up = await startRealUp()
    await up.apply(deployment(up.image, 'one'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { clusterIP: address, selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    })
    await up.k(['rollout', 'status', 'deployment/web', '--timeout=200s'])
  })
  after(async () => up[Symbol.asyncDispose]())

  test(`a rolling update at ${perSecond} connections per second loses none`, async () => {
    const results = await underLoad(async () => {
      await up.apply(deployment(up.image, 'two'))
      await up.k(['rollout', 'status', 'deployment/web', '--timeout=200s'])
      await threeReady(up)
    })
    deepEqual([...results.keys()].toSorted(), ['one', 'two'])
    ok([...results.values()].reduce((sum, count) => sum + count, 0) >= perSecond)
    equal(await call(), 'two')
  })

  test('traffic continues while the process with the proxy is killed and started again', async () => {
    const results = await underLoad(async () => {
      await up.crash()
      await threeReady(up)
    })
    deepEqual([...results.keys()], ['two'])
  })
})
