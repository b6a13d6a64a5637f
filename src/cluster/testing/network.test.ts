// Applications of several services in simulated pods: names, Services, readiness, affinity, policies, updates and faults.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { startCluster, type StartClusterOptions } from './start-cluster.ts'
import type { SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { serveUntilTerminated } from '../../machine/runtime/simulated-runtime.ts'
import type { TestCluster } from './test-cluster.ts'

/** Responds with the name of its pod and the address of its client. */
const whoami: SimulatedProgram = (process) => {
  process.serveHttp(8080, ({ remoteAddress }) => ({ status: 200, body: `${process.pod.name} ${remoteAddress}` }))
  return serveUntilTerminated(process)
}

/** Keeps numbers by key. */
const database: SimulatedProgram = (process) => {
  const values = new Map<string, string>()
  process.serveHttp(5432, async (request) => {
    if (request.method === 'PUT') values.set(request.path, await request.text())
    const value = values.get(request.path)
    return value === undefined ? { status: 404 } : { status: 200, body: value, headers: { 'x-pod': process.pod.name } }
  })
  return serveUntilTerminated(process)
}

const api: SimulatedProgram = (process) => {
  process.serveHttp(8080, async ({ method, path, text }) => {
    const stored = await process.fetch(`http://db-0.db:5432${path}`, {
      method,
      ...(method === 'PUT' ? { body: await text() } : {}),
    })
    return { status: stored.status, body: `${stored.headers.get('x-pod')}=${await stored.text()}` }
  })
  return serveUntilTerminated(process)
}

const frontend: SimulatedProgram = (process) => {
  process.serveHttp(80, async ({ method, path, text }) => {
    const response = await process.fetch(`http://api${path}`, {
      method,
      ...(method === 'PUT' ? { body: await text() } : {}),
    })
    return { status: response.status, body: `api says ${await response.text()}` }
  })
  return serveUntilTerminated(process)
}

const images = { whoami, database, api, frontend }
const start = (options: StartClusterOptions = {}) => startCluster({ simulation: { images }, ...options })

interface Workload {
  readonly kind?: 'Deployment' | 'StatefulSet'
  readonly replicas?: number
  readonly container?: object
  readonly spec?: object
}

const workload = (
  name: string,
  image: string,
  { kind = 'Deployment', replicas = 1, container, spec }: Workload = {},
) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas,
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image, ...container }], ...spec },
    },
  },
})

const serviceOf = (name: string, port: number, targetPort: number, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port, targetPort }], ...spec },
})

/** Waits until as many pods of the application are ready and routed. */
const untilReady = (cluster: TestCluster, app: string, count: number) =>
  cluster.until(async () => {
    const { items } = await cluster.client.of(pod).list({ labelSelector: `app=${app}` })
    const ready = items.filter(({ status }) =>
      status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    )
    return ready.length === count && items.length === count ? ready : undefined
  })

const textOf = async (cluster: TestCluster, url: string, from?: string) =>
  (await cluster.network.fetch(url, from === undefined ? {} : { from })).text()

/** The pods that responded to so many requests, in alphabetical order. */
async function podsBehind(cluster: TestCluster, url: string, from?: string, count = 30): Promise<string[]> {
  const names = new Set<string>()
  for (let each = 0; each < count; each++) names.add((await textOf(cluster, url, from)).split(' ')[0] ?? '')
  return [...names].toSorted()
}

test('a request passes three services and the database keeps its value', async () => {
  await using cluster = await start({ nodes: 3 })
  await cluster.apply([
    workload('frontend', 'frontend', { replicas: 2 }),
    serviceOf('frontend', 80, 80),
    workload('api', 'api', { replicas: 2 }),
    serviceOf('api', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet' }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  await untilReady(cluster, 'frontend', 2)
  await untilReady(cluster, 'db', 1)
  await untilReady(cluster, 'api', 2)
  const put = await cluster.network.fetch('http://frontend/answer', { method: 'PUT', body: '42' })
  equal(put.status, 200)
  equal(await textOf(cluster, 'http://frontend.default.svc.cluster.local/answer'), 'api says db-0=42')
  equal((await cluster.network.fetch('http://frontend/missing')).status, 404)
})

test('names resolve as in a pod: short, qualified, headless, of a StatefulSet, and unknown ones', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('web', 'whoami'),
    serviceOf('web', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet', replicas: 2 }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const dbs = await untilReady(cluster, 'db', 2)
  const from = `pod/${web?.metadata.name}`
  const { clusterIP = '' } = (await cluster.client.of(service).get('web')).spec
  for (const name of ['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local', 'WEB.'])
    if (name === 'WEB.') await rejects(cluster.network.resolve(name, { from }), { code: 'ENOTFOUND' })
    else deepEqual(await cluster.network.resolve(name, { from }), [clusterIP])
  const addresses = dbs.map(({ status }) => status.podIP ?? '')
  deepEqual((await cluster.network.resolve('db', { from })).toSorted(), addresses.toSorted())
  const second = dbs.find(({ metadata }) => metadata.name === 'db-1')
  deepEqual(await cluster.network.resolve('db-1.db', { from }), [second?.status.podIP])
  await rejects(cluster.network.resolve('web.blue', { from }), {
    code: 'ENOTFOUND',
    message: 'lookup web.blue on 10.96.0.10:53: no such host',
  })
})

test('a pod with the DNS policy Default does not know the names of the cluster', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('web', 'whoami'),
    serviceOf('web', 80, 8080),
    workload('own', 'whoami', { spec: { dnsPolicy: 'Default' } }),
  ])
  await untilReady(cluster, 'web', 1)
  const [own] = await untilReady(cluster, 'own', 1)
  await rejects(textOf(cluster, 'http://web/', `pod/${own?.metadata.name}`), { code: 'ENOTFOUND' })
})

test('an ExternalName Service leads to a host outside the cluster', async () => {
  await using cluster = await start()
  const address = cluster.network.addHost('pay.example.com', {
    80: ({ headers, remoteAddress }) => ({ status: 200, body: `${headers['host']} ${remoteAddress}` }),
  })
  await cluster.apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'pay' },
      spec: { type: 'ExternalName', externalName: 'pay.example.com' },
    },
    workload('web', 'whoami'),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const from = `pod/${web?.metadata.name}`
  deepEqual(await cluster.network.resolve('pay', { from }), [address])
  equal(await textOf(cluster, 'http://pay/', from), 'pay 192.0.2.1')
  await rejects(textOf(cluster, 'http://pay:81/', from), { code: 'ECONNREFUSED' })
})

test('requests are spread over ready pods; without endpoints they are refused immediately', async () => {
  await using cluster = await start({ nodes: 2 })
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, failureThreshold: 1 }
  await cluster.apply([
    workload('web', 'whoami', { replicas: 3, container: { readinessProbe } }),
    serviceOf('web', 80, 8080),
  ])
  const pods = await untilReady(cluster, 'web', 3)
  deepEqual(await podsBehind(cluster, 'http://web/'), pods.map(({ metadata }) => metadata.name).toSorted())
  await cluster.client.of(deployment).patch('web', { spec: { replicas: 0 } })
  await untilReady(cluster, 'web', 0)
  const beforeMs = cluster.clock.nowMs()
  await rejects(textOf(cluster, 'http://web/'), { code: 'ECONNREFUSED' })
  equal(cluster.clock.nowMs(), beforeMs)
})

test('a pod that is not ready gets no requests until it is ready again', async () => {
  const broken = new Set<string>()
  const flaky: SimulatedProgram = (process) => {
    process.serveHttp(8080, ({ path }) => ({
      status: path === '/ready' && broken.has(process.pod.name) ? 503 : 200,
      body: process.pod.name,
    }))
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { flaky } } })
  const readinessProbe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, failureThreshold: 2 }
  await cluster.apply([
    workload('web', 'flaky', { replicas: 2, container: { readinessProbe } }),
    serviceOf('web', 80, 8080),
  ])
  const [one, other] = (await untilReady(cluster, 'web', 2)).map(({ metadata }) => metadata.name).toSorted()
  broken.add(one ?? '')
  await cluster.clock.advance('5s')
  deepEqual(await podsBehind(cluster, 'http://web/'), [other])
  broken.clear()
  await cluster.clock.advance('5s')
  deepEqual(await podsBehind(cluster, 'http://web/'), [one, other])
})

test('session affinity keeps the pod of a client until its timeout', async () => {
  await using cluster = await start()
  const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }
  await cluster.apply([workload('web', 'whoami', { replicas: 4 }), serviceOf('web', 80, 8080, affinity)])
  await untilReady(cluster, 'web', 4)
  const kept = await podsBehind(cluster, 'http://web/')
  equal(kept.length, 1)
  const seen = new Set(kept)
  for (let each = 0; each < 10; each++) {
    await cluster.clock.advance('61s')
    for (const name of await podsBehind(cluster, 'http://web/', undefined, 3)) seen.add(name)
  }
  ok(seen.size > 1, 'after the timeout a client may get another pod')
  await cluster.client.of(pod).delete(kept[0] ?? '')
  await untilReady(cluster, 'web', 4)
  ok(!(await podsBehind(cluster, 'http://web/')).includes(kept[0] ?? ''))
})

test('node ports and load balancer addresses are reachable from outside; cluster IPs and pods are not', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('web', 'whoami', { replicas: 2 }),
    serviceOf('web', 80, 8080, { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }] }),
  ])
  const [web] = await untilReady(cluster, 'web', 2)
  const balancer = cluster.client.of(service)
  await balancer.updateStatus({
    ...(await balancer.get('web')),
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.80' }] } },
  })
  await cluster.clock.settle()
  match(await textOf(cluster, 'http://192.0.2.2:30080/', 'outside'), /^web-.* 192\.0\.2\.2$/)
  match(await textOf(cluster, 'http://203.0.113.80/', 'outside'), /^web-.* 192\.0\.2\.[12]$/)
  for (const url of ['http://web/', `http://${web?.status.podIP}:8080/`])
    await rejects(textOf(cluster, url, 'outside'), {
      code: 'ENETUNREACH',
      message: /network is unreachable; cluster IPs and pods are reachable from pods and nodes only/,
    })
})

test('with the policy Local, a node without endpoints drops packets and others preserve the address of the client', async () => {
  await using cluster = await start({ nodes: 2 })
  const external = {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
  }
  await cluster.apply([
    workload('web', 'whoami', { spec: { nodeName: 'node-0' } }),
    serviceOf('web', 80, 8080, external),
    {
      ...serviceOf('near', 80, 8080, { internalTrafficPolicy: 'Local' }),
      spec: { ...serviceOf('web', 80, 8080).spec, internalTrafficPolicy: 'Local' },
    },
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  equal(await textOf(cluster, 'http://192.0.2.1:30080/', 'outside'), `${web?.metadata.name} 203.0.113.1`)
  const beforeMs = cluster.clock.nowMs()
  await rejects(textOf(cluster, 'http://192.0.2.2:30080/', 'outside'), { code: 'ETIMEDOUT' })
  equal(cluster.clock.nowMs() - beforeMs, 127_000)
  equal(await textOf(cluster, 'http://near/', 'node/node-0'), `${web?.metadata.name} 192.0.2.1`)
  await rejects(textOf(cluster, 'http://near/', 'node/node-1'), { code: 'ETIMEDOUT' })
})

test('a pod reaches itself by localhost and by its Service, and pods see the addresses of pods', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('web', 'whoami', { spec: { nodeName: 'node-0' } }),
    serviceOf('web', 80, 8080),
    workload('client', 'whoami', { spec: { nodeName: 'node-1' } }),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const [client] = await untilReady(cluster, 'client', 1)
  const name = web?.metadata.name
  equal(await textOf(cluster, 'http://localhost:8080/', `pod/${name}`), `${name} ${web?.status.podIP}`)
  equal(await textOf(cluster, 'http://web/', `pod/${name}`), `${name} 192.0.2.1`)
  equal(await textOf(cluster, 'http://web/', `pod/${client?.metadata.name}`), `${name} ${client?.status.podIP}`)
})

test('a rolling update loses no request', async () => {
  const slow: SimulatedProgram = (process) => {
    process.serveHttp(8080, async () => {
      await process.clock.sleep(300, new AbortController().signal)
      return { status: 200, body: process.environment['VERSION'] ?? '' }
    })
    return serveUntilTerminated(process)
  }
  const results: string[] = []
  const load: SimulatedProgram = async (process) => {
    const one = async () => {
      const response = await process.fetch('http://web/').catch((error: Error) => error)
      results.push(response instanceof Error ? response.message : await response.text())
    }
    while (!process.terminated.aborted) {
      void one()
      await process.clock.sleep(50, process.terminated).catch(() => {})
    }
    return 0
  }
  await using cluster = await startCluster({ nodes: 2, simulation: { images: { slow, load }, startMs: 700 } })
  const web = (version: string) =>
    workload('web', 'slow', {
      replicas: 3,
      container: {
        env: [{ name: 'VERSION', value: version }],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        lifecycle: { preStop: { sleep: { seconds: 2 } } },
      },
    })
  await cluster.apply([web('1'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 3)
  await cluster.apply(workload('load', 'load'))
  await untilReady(cluster, 'load', 1)
  await cluster.clock.advance('5s')
  await cluster.apply(web('2'), { force: true })
  await cluster.until(async () => {
    const { status, metadata } = await cluster.client.of(deployment).get('web')
    return status.observedGeneration === metadata.generation && status.updatedReplicas === 3 && status.replicas === 3
  })
  await cluster.clock.advance('10s')
  deepEqual([...new Set(results)].toSorted(), ['1', '2'])
  ok(results.length > 300, `${results.length} requests`)
  equal(results.at(-1), '2')
})

test('a partition stops requests, and the application recovers when it is removed', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('api', 'api', { spec: { nodeName: 'node-0' } }),
    serviceOf('api', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet', spec: { nodeName: 'node-1' } }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  await untilReady(cluster, 'api', 1)
  await untilReady(cluster, 'db', 1)
  const partition = cluster.faults.partition([['node/node-0'], ['node/node-1']])
  const signal = AbortSignal.any([])
  const beforeMs = cluster.clock.nowMs()
  const failed = await cluster.network.fetch('http://api/x', { method: 'PUT', body: '1', from: 'node/node-0', signal })
  deepEqual([failed.status, cluster.clock.nowMs() - beforeMs], [500, 127_000])
  partition.remove()
  const stored = await cluster.network.fetch('http://api/x', { method: 'PUT', body: '1', from: 'node/node-0' })
  equal(await stored.text(), 'db-0=1')
})

test('slow and lossy links take time, equally for the same seed', async () => {
  const run = async () => {
    await using cluster = await start({ nodes: 2, seed: 7 })
    await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
    await untilReady(cluster, 'web', 1)
    const tookMs = async () => {
      const beforeMs = cluster.clock.nowMs()
      await textOf(cluster, 'http://web/')
      return cluster.clock.nowMs() - beforeMs
    }
    const quick = await tookMs()
    cluster.faults.slowLink({ to: 'service/web', ms: 200 })
    const slow = await tookMs()
    cluster.faults.dropLink({ from: 'service/web', share: 0.5 })
    const lossy = [await tookMs(), await tookMs(), await tookMs(), await tookMs()]
    cluster.faults.heal()
    return { quick, slow, lossy, healed: await tookMs() }
  }
  const found = await run()
  deepEqual([found.quick, found.slow, found.healed], [0, 400, 0])
  ok(Math.max(...found.lossy) > 400, String(found.lossy))
  deepEqual(await run(), found)
})

test('connections break when their pod is deleted or its node loses power', async () => {
  const hang: SimulatedProgram = (process) => {
    process.serveHttp(8080, () => new Promise(() => {}))
    return serveUntilTerminated(process)
  }
  const results: string[] = []
  const caller: SimulatedProgram = async (process) => {
    while (!process.terminated.aborted) {
      const startMs = process.clock.nowMs()
      const error = await process.fetch('http://web/').catch((each: Error) => each)
      results.push(`${process.clock.nowMs() - startMs} ${String(error)}`)
      await process.clock.sleep(1_000, process.terminated).catch(() => {})
    }
    return 0
  }
  await using cluster = await startCluster({ nodes: 2, simulation: { images: { hang, caller } } })
  await cluster.apply([workload('web', 'hang', { spec: { nodeName: 'node-1' } }), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  await cluster.apply(workload('caller', 'caller', { spec: { nodeName: 'node-0' } }))
  await cluster.clock.advance('10s')
  deepEqual(results, [])
  await cluster.client.of(pod).delete(web?.metadata.name ?? '')
  await cluster.clock.advance('5s')
  match(results.join(), /^1\d{4} Error: EOF$/)
  await cluster.powerOff('node-1')
  await cluster.clock.advance('1m')
  equal(results.length, 1)
  await cluster.clock.advance('2m')
  match(results[1] ?? '', /NetworkError: tcp 10\.\d+\.\d+\.\d+:80: connection timed out$/)
  await rejects(textOf(cluster, 'http://192.0.2.2:8080/'), { code: 'EHOSTUNREACH' })
})

test('a call that does not end fails with what it waits for', async () => {
  const hang: SimulatedProgram = (process) => {
    process.serveHttp(8080, () => new Promise(() => {}))
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { hang } } })
  await cluster.apply([workload('web', 'hang'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  await rejects(cluster.network.fetch('http://web/'), {
    message:
      "GET http://web/ did not end within 1h of the cluster's time: a connection to web:80 was established, but the response is not complete",
  })
})

test('connections carry bytes both ways', async () => {
  const echo: SimulatedProgram = (process) => {
    process.listen(7, async (connection) => {
      for await (const piece of connection.pieces) await connection.write(piece)
      connection.end()
    })
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { echo } } })
  await cluster.apply([workload('echo', 'echo'), serviceOf('echo', 7, 7)])
  await untilReady(cluster, 'echo', 1)
  const connection = await cluster.network.connect('echo', 7)
  await connection.write(new TextEncoder().encode('hello'))
  connection.end()
  let text = ''
  for await (const piece of connection.pieces) text += new TextDecoder().decode(piece)
  equal(text, 'hello')
})

test('connections are recorded on request, as flow events of the Service', async () => {
  await using cluster = await start()
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  await textOf(cluster, 'http://web/')
  ok(!cluster.flow(service, 'web').includes('connect'))
  cluster.network.recordsConnections = true
  equal(cluster.network.recordsConnections, true)
  await rejects(textOf(cluster, 'http://web:81/', 'node/node-0'), { code: 'ECONNREFUSED' })
  await textOf(cluster, `http://${web?.status.podIP}:8080/`)
  await textOf(cluster, 'http://web/', `pod/${web?.metadata.name}`)
  match(
    cluster.flow(service, 'web'),
    /pod\/default\/web-\S+ ──► pod\/default\/web-\S+: connect 10\.\d+\.\d+\.\d+:80 web → connected/,
  )
})

test('ports of the node are reachable: of pods in its network and host ports', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('own', 'whoami', { spec: { hostNetwork: true } }),
    workload('shared', 'database', { container: { ports: [{ containerPort: 5432, hostPort: 9000 }] } }),
  ])
  await untilReady(cluster, 'own', 1)
  await untilReady(cluster, 'shared', 1)
  match(await textOf(cluster, 'http://192.0.2.1:8080/', 'outside'), /^own-\S+ 203\.0\.113\.1$/)
  equal((await cluster.network.fetch('http://192.0.2.1:9000/missing', { from: 'outside' })).status, 404)
  await rejects(textOf(cluster, 'http://192.0.2.1:81/'), { code: 'ECONNREFUSED' })
})

test('programs resolve names and open connections; a program in the network of its node has its address', async () => {
  const lines: string[] = []
  const client: SimulatedProgram = async (process) => {
    lines.push(process.pod.address, (await process.resolve('web.default.svc')).join())
    const connection = await process.connect('web.default.svc', 80)
    await connection.write(new TextEncoder().encode('GET / HTTP/1.0\r\n\r\n'))
    let text = ''
    for await (const piece of connection.pieces) text += new TextDecoder().decode(piece)
    lines.push(text.split('\r\n\r\n')[1] ?? '')
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { ...images, client } } })
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  const { clusterIP } = (await cluster.client.of(service).get('web')).spec
  const ownNetwork = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }
  await cluster.apply(workload('client', 'client', { spec: ownNetwork }))
  await untilReady(cluster, 'client', 1)
  deepEqual(lines, ['192.0.2.1', clusterIP, `${web?.metadata.name} 192.0.2.1`])
})

test('calls work while time flows', async () => {
  await using cluster = await startCluster({ simulation: { images }, time: 'flowing', https: false })
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  match(await textOf(cluster, 'http://web/'), /^web-/)
})

test('clients are validated', async () => {
  await using cluster = await start()
  const fetchFrom = (from: string) => cluster.network.fetch('http://web/', { from })
  await rejects(fetchFrom('pod/missing'), /there is no pod missing in namespace default/)
  await rejects(fetchFrom('node/node-9'), /there is no simulated node node-9/)
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'new' }, spec: { containers: [{ name: 'c', image: 'missing' }] } })
  await rejects(fetchFrom('pod/new'), /pod default\/new is not running: Pending/)
  await rejects(fetchFrom('service/web'), /a Service does not open connections/)
  await rejects(fetchFrom('web'), /"web" is not a place in the network/)
  await cluster.powerOff('node-0')
  await rejects(cluster.network.resolve('web'), /no node is on/)
})

test('the network works again after a restore', async () => {
  await using cluster = await start()
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  await textOf(cluster, 'http://web/')
  await cluster.restore(cluster.snapshot())
  await cluster.clock.advance('1m')
  match(await textOf(cluster, 'http://web/'), /^web-/)
})
