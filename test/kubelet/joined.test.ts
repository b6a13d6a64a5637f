// Real containers with a kubelet in a separate process: what kubectl reaches through its port, and failures on a node.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fetchFlowEvents } from '../../src/cluster/client/fetch-flow-events.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { until, untilMatch } from '../until.ts'
import { serviceRange, startJoined, type JoinedMachine } from './joined.harness.ts'

const sh = (script: string) => ({ command: ['/bin/sh', '-c', script] })
const { signal } = new AbortController()
const status = '.status.containerStatuses[0]'
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

inNamespaces(import.meta.url, () => {
  let machine: JoinedMachine
  /** The response of the manifest URL. */
  let manifests = ''
  const address = createServer((_, response) => void response.end(manifests))
  before(async () => {
    address.listen(0, '127.0.0.1')
    await once(address, 'listening')
    const { port } = address.address() as AddressInfo
    const rotation = ['--container-log-max-size', '20Ki', '--container-log-max-files', '3']
    machine = await startJoined(
      ...rotation,
      '--manifest-url',
      `http://127.0.0.1:${port}/pods`,
      '--http-check-frequency',
      '1s',
    )
    await machine.pod('web', {})
    await machine.wait('web', '.status.phase', 'Running')
  })
  after(async () => {
    await machine[Symbol.asyncDispose]()
    address.close()
  })
  const k = (args: readonly string[], input?: object) => machine.cluster.k(args, input)

  test('exec with its input to the end, attach, and 50 MB in both directions', async () => {
    const { cluster, typed, pod, wait } = machine
    const echoed = await typed(['exec', '-i', 'web', '--', 'sh', '-c', 'cat; echo end; exit 7'], 'some input\n')
    deepEqual([echoed.code, echoed.out, echoed.err], [7, 'some input\nend\n', 'command terminated with exit code 7\n'])
    const listens = sh('while read line; do echo "got $line"; done; echo bye')
    await pod('listens', { ...listens, stdin: true, stdinOnce: true }, { restartPolicy: 'Never' })
    await wait('listens', '.status.phase', 'Running')
    const attached = await typed(['attach', '-i', 'listens'], 'one\ntwo\n')
    deepEqual([attached.code, attached.out], [0, 'got one\ngot two\nbye\n'], attached.err)
    await wait('listens', '.status.phase', 'Succeeded')
    await k(['delete', 'pod', 'listens', '--timeout=200s'])

    const content = Buffer.alloc(50_000_000, createHash('sha512').update('block').digest())
    const there = join(cluster.up.folder, 'there')
    const back = join(cluster.up.folder, 'back')
    await writeFile(there, content)
    await k(['cp', there, 'web:/tmp/file'])
    equal(await k(['exec', 'web', '--', 'sha256sum', '/tmp/file']), `${sha256(content)}  /tmp/file\n`)
    await k(['cp', 'web:/tmp/file', back])
    equal(sha256(await readFile(back)), sha256(content))
  })

  test('the network agent, which is no kubelet, reads Services, Nodes and policies, and sets its rules', async () => {
    const table = (name: string) => Promise.resolve(execFileSync('nft', ['list', 'table', 'inet', name]).toString())
    const clusterIp = await k([
      'create',
      'service',
      'clusterip',
      'routed',
      '--tcp=80',
      '-o',
      'jsonpath={.spec.clusterIP}',
    ])
    await untilMatch(() => table('coxswain-proxy'), new RegExp(`\\b${clusterIp.replaceAll('.', '\\.')}\\b`))
    ok((await table('coxswain-proxy')).includes(serviceRange))
    match(await table('coxswain-policy'), /hook forward/)
    const paths = '{.metadata.annotations.coxswain\\.dev/pod-paths}'
    match(await k(['get', 'node', 'worker', '-o', `jsonpath=${paths}`]), /no other nodes|routes|VXLAN/)
    await k(['delete', 'service', 'routed'])
  })

  test('the flow of a pod continues past the scheduler, to the kubelet of the machine and its runtime', async () => {
    await machine.pod('traced', {})
    await machine.wait('traced', '.status.phase', 'Running')
    // One report has the events of the kubelet, of the proxy and of the network policies.
    await k(['create', 'service', 'clusterip', 'traced', '--tcp=80'])
    const kubeconfig = await readFile(machine.cluster.up.kubeconfig, 'utf8')
    const events = () => fetchFlowEvents(kubeconfig, signal)
    const drawn = async () =>
      textDiagram(flowTreesOf(await events(), { resource: 'pods', namespace: 'default', name: 'traced' }))
    for (const arrow of [
      /scheduler ──► API Server: create pods\/binding traced/,
      /kubelet\/worker ──► Runtime: start container c /,
      /kubelet\/worker ──► API Server: patch pods\/status traced/,
    ])
      await untilMatch(drawn, arrow)
    await until(async () => (await events()).some(({ from, to }) => from === 'proxy/worker' && to === 'Network'))
    await k(['delete', 'service', 'traced'])
    await k(['delete', 'pod', 'traced', '--timeout=200s'])
  })

  test('1,000 requests through a forwarded port', async () => {
    await k(['exec', 'web', '--', 'sh', '-c', 'echo "a page" > /tmp/index.html; httpd -p 8080 -h /tmp'])
    const forwarding = machine.beside(['port-forward', 'pod/web', ':8080'])
    ok(forwarding.stdout)
    const [line] = (await once(createInterface({ input: forwarding.stdout }), 'line')) as [string]
    const port = /127\.0\.0\.1:(\d+) -> 8080/.exec(line)?.[1]
    let served = 0
    const fetchSome = async (count: number) => {
      for (let index = 0; index < count; index++) {
        const answer = await fetch(`http://127.0.0.1:${port}/index.html`, { headers: { connection: 'close' } })
        if ((await answer.text()) === 'a page\n') served++
      }
    }
    await Promise.all(Array.from({ length: 8 }, () => fetchSome(125)))
    equal(served, 1_000)
    forwarding.kill()
  })

  test('a followed log continues after a rotation, and an ephemeral container sees the processes of another container', async () => {
    const { pod, wait, beside, folder } = machine
    await pod(
      'talks',
      sh('i=0; while true; do i=$((i+1)); echo "line $i of the log"; [ $((i%20)) = 0 ] && sleep 0.2; done'),
    )
    await wait('talks', '.status.phase', 'Running')
    const following = beside(['logs', '-f', 'talks'])
    ok(following.stdout)
    const seen: string[] = []
    createInterface({ input: following.stdout }).on('line', (line) => seen.push(line))

    const look = ['--', 'sh', '-c', 'ps | grep -c "while true"']
    await k(['debug', 'web', `--image=${machine.image}`, '--target=c', '-c', 'debugger', '--profile=general', ...look])
    await wait('web', '.status.ephemeralContainerStatuses[0].state.terminated.exitCode', '0')
    match(await k(['logs', 'web', '-c', 'debugger']), /^[1-9]/)

    const [logs] = readdirSync(join(folder, 'logs')).filter((name) => name.includes('talks'))
    const files = () => readdirSync(join(folder, 'logs', logs ?? '', 'c'))
    await until(() => files().length > 1)
    const rotated = seen.length
    await until(() => seen.length > rotated + 100)
    const closed = once(following, 'close')
    await k(['delete', 'pod', 'talks', '--timeout=200s'])
    await closed
    deepEqual(
      seen,
      Array.from(seen, (_, index) => `line ${index + 1} of the log`),
    )
  })

  test('endpoints of the kubelet at its own port: the API server proxies to no kubelet on loopback', async () => {
    const { identity } = parseKubeconfig(await readFile(machine.cluster.up.kubeconfig, 'utf8'))
    const port = /:(\d+)$/.exec(machine.running().readyLine)?.[1]
    const raw = async (path: string): Promise<string> => {
      const options = {
        cert: identity.certificate,
        key: identity.key,
        rejectUnauthorized: false,
        agent: false,
      } as const
      const [response] = (await once(get(`https://127.0.0.1:${port}${path}`, options), 'response')) as [IncomingMessage]
      return Buffer.concat(await response.toArray()).toString()
    }
    const proxied = await machine.cluster.ask(['get', '--raw', '/api/v1/nodes/worker/proxy/configz'])
    match(proxied.err, /address not allowed/)
    const { kubeletconfig } = JSON.parse(await raw('/configz')) as { kubeletconfig: Record<string, unknown> }
    deepEqual([kubeletconfig['kind'], kubeletconfig['containerLogMaxSize']], ['KubeletConfiguration', '20Ki'])
    const marker = `coxswain-${process.pid}.log`
    await using _file = { [Symbol.asyncDispose]: () => rm(`/var/log/${marker}`) }
    await writeFile(`/var/log/${marker}`, 'of the node\n')
    match(await raw('/logs/'), new RegExp(`<a href="${marker}">`))
    equal(await raw(`/logs/${marker}`), 'of the node\n')
    await machine.pod('probed', { livenessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } })
    const counted =
      /^prober_probe_total{container="c",namespace="default",pod="probed",.*probe_type="Liveness",result="successful"} \d+$/m
    await until(async () => counted.test(await raw('/metrics/probes')))
    await k(['delete', 'pod', 'probed', '--timeout=200s'])
    await until(async () => !(await raw('/metrics/probes')).includes('probed'))
  })

  test('28: probes that hang fail after their timeout, as a command and over HTTP', async () => {
    const { pod, wait, events } = machine
    const hangs = { ...sh('nc -ll -p 8080 -e sleep 1000 & trap "exit 0" TERM; while true; do sleep 0.1; done') }
    const once1 = { periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 }
    await pod('hangs', {
      ...hangs,
      livenessProbe: { exec: { command: ['sleep', '1000'] }, ...once1 },
      readinessProbe: { httpGet: { path: '/', port: 8080 }, ...once1 },
    })
    await wait('hangs', `${status}.restartCount`, '1')
    const recorded = () => events('hangs')
    await untilMatch(recorded, /Liveness probe failed: command timed out: "sleep 1000" timed out after 1s/)
    await untilMatch(recorded, /Container c failed liveness probe, will be restarted/)
    await untilMatch(
      recorded,
      /Readiness probe failed: Get "http:\/\/10\.244\.\d+\.\d+:8080\/": context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)/,
    )
    equal(await machine.read('hangs', '.status.conditions[?(@.type=="Ready")].status'), 'False')
    await k(['delete', 'pod', 'hangs', '--timeout=200s'])
  })

  test('01: an unschedulable pod reports why, and runs as soon as it fits', async () => {
    await machine.pod('choosy', {}, { nodeSelector: { disk: 'ssd' } })
    const scheduled = '.status.conditions[?(@.type=="PodScheduled")]'
    await machine.wait('choosy', `${scheduled}.reason`, 'Unschedulable')
    match(await machine.read('choosy', `${scheduled}.message`), /^0\/1 nodes are available: 1 node\(s\) didn't match/)
    await k(['label', 'node', 'worker', 'disk=ssd'])
    await machine.wait('choosy', '.status.phase', 'Running')
    await k(['delete', 'pod', 'choosy', '--timeout=200s'])
  })

  test('02: the token in a container is valid while the pod exists, and needs a role', async () => {
    await machine.pod('caller', {})
    await machine.wait('caller', '.status.phase', 'Running')
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
    const token = await k(['exec', 'caller', '--', 'cat', `${folder}/token`])
    equal(await k(['exec', 'caller', '--', 'cat', `${folder}/namespace`]), 'default')
    const forbidden = await tokenCall(token, '/api/v1/namespaces/default/pods')
    deepEqual(
      [forbidden.status, /system:serviceaccount:default:default/.test(forbidden.text)],
      [403, true],
      forbidden.text,
    )
    await k(['create', 'role', 'see', '--verb=list', '--resource=pods'])
    await k(['create', 'rolebinding', 'see', '--role=see', '--serviceaccount=default:default'])
    await until(async () => (await tokenCall(token, '/api/v1/namespaces/default/pods')).status === 200)
    await k(['delete', 'pod', 'caller', '--timeout=200s'])
    await until(async () => (await tokenCall(token, '/api/v1/namespaces/default/pods')).status === 401)
  })

  test('27: pods from a URL are mirrored, updated, kept while the response is invalid, and deleted with it', async () => {
    const { wait, read } = machine
    const own = (word: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'PodList',
        items: [
          {
            metadata: { name: 'own', namespace: 'default' },
            spec: {
              terminationGracePeriodSeconds: 1,
              containers: [{ name: 'c', image: machine.image, env: [{ name: 'WORD', value: word }] }],
            },
          },
        ],
      })
    manifests = own('one')
    await until(async () => (await k(['get', 'pods', '-o', 'name'])).includes('own-worker'))
    await wait('own-worker', '.status.phase', 'Running')
    equal(await read('own-worker', '.metadata.annotations.kubernetes\\.io/config\\.source'), 'http')
    const id = await read('own-worker', `${status}.containerID`)
    manifests = 'nonsense'
    await k(['exec', 'own-worker', '--', 'true'])
    equal(await read('own-worker', `${status}.containerID`), id)
    manifests = own('two')
    await until(async () => (await machine.cluster.ask(['exec', 'own-worker', '--', 'env'])).out.includes('WORD=two'))
    manifests = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [] })
    await until(async () => !(await k(['get', 'pods', '-o', 'name'])).includes('own-worker'))
  })

  test('a rule restarts all containers, and a killed sandbox is replaced', async () => {
    const { pod, wait, read, events } = machine
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
    const once1 = 'test -e /shared/done && exec sleep 1000; touch /shared/done; sleep 1; exit 42'
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }]
    const { image } = machine
    await pod(
      'again',
      {},
      {
        restartPolicy: 'Never',
        volumes: [{ name: 'shared', emptyDir: {} }],
        initContainers: [{ name: 'first', image, ...sh('true') }],
        containers: [
          { name: 'c', image },
          { name: 'watcher', image, ...sh(once1), volumeMounts, restartPolicy: 'Never', restartPolicyRules },
        ],
      },
    )
    const ip = () => read('again', '.status.podIP')
    await wait('again', '.status.phase', 'Running')
    const ipBefore = await ip()
    const counts = '{.status.initContainerStatuses[0].restartCount}{.status.containerStatuses[*].restartCount}'
    await until(async () => (await k(['get', 'pod', 'again', '-o', `jsonpath=${counts}`])) === '11 1')
    await wait('again', '.status.conditions[?(@.type=="Ready")].status', 'True')
    equal(await ip(), ipBefore, 'the sandbox stays')
    equal(await read('again', '.status.conditions[?(@.type=="AllContainersRestarting")].status'), 'False')

    await wait('web', '.status.phase', 'Running')
    const old = await read('web', `${status}.containerID`)
    const socket = join(machine.folder, 'containerd', 'containerd.sock')
    const ctr = (...args: string[]) =>
      execFileSync('ctr', ['-a', socket, '-n', 'k8s.io', ...args], { encoding: 'utf8' })
    const uid = await read('web', '.metadata.uid')
    const sandboxes = ctr(
      'containers',
      'ls',
      '-q',
      `labels."io.kubernetes.pod.uid"==${uid},labels."io.cri-containerd.kind"==sandbox`,
    )
    ctr('tasks', 'kill', '--signal', 'SIGKILL', sandboxes.trim())
    await wait('web', `${status}.restartCount`, '1')
    await wait('web', '.status.conditions[?(@.type=="Ready")].status', 'True')
    await untilMatch(() => events('web'), /SandboxChanged .*Pod sandbox changed, it will be killed and re-created\./)
    ok((await read('web', `${status}.containerID`)) !== old)
    await k(['delete', 'pod', 'again', '--timeout=200s'])
  })

  /** The pods of a node, except the one that all tests share. */
  const left = async () => {
    const { folder, cgroupRoot } = machine
    const cgroups = await NodeCgroups.open()
    const uid = (await machine.cluster.ask(['get', 'pod', 'web', '-o', 'jsonpath={.metadata.uid}'])).out
    const groups = await Promise.all(['', '/burstable', '/besteffort'].map((name) => cgroups.list(cgroupRoot + name)))
    const mine = (names: readonly string[]) => names.filter((name) => !name.includes(uid))
    return {
      pods: mine(readdirSync(join(folder, 'pods'))),
      logs: mine(readdirSync(join(folder, 'logs'))),
      groups: mine(groups.flat().filter((name) => name.startsWith('pod'))),
      addresses: readdirSync(join(folder, 'addresses', 'coxswain')).filter((name) => /^\d/.test(name)).length,
      mounts: mine(
        readFileSync('/proc/mounts', 'utf8')
          .split('\n')
          .filter((line) => line.includes(join(folder, 'pods'))),
      ),
    }
  }
  const nothing = { pods: [], logs: [], groups: [], addresses: 1, mounts: [] }
  const stubborn = sh('trap "" TERM; while true; do sleep 0.1; done')

  test('18: a pod that is deleted by force is removed at once, and its containers soon afterwards', async () => {
    await machine.pod('stubborn', stubborn, { terminationGracePeriodSeconds: 600 })
    await machine.wait('stubborn', '.status.phase', 'Running')
    const { err } = await machine.cluster.ask([
      'delete',
      'pod',
      'stubborn',
      '--grace-period=0',
      '--force',
      '--timeout=5s',
    ])
    match(err, /Immediate deletion does not wait for confirmation that the running resource has been terminated/)
    equal(
      (await machine.cluster.ask(['get', 'pod', 'stubborn'])).err,
      'Error from server (NotFound): pods "stubborn" not found\n',
    )
    await until(async () => JSON.stringify(await left()) === JSON.stringify(nothing))
  })

  test('18, 20: an unreachable kubelet is reported, deletions wait for it, and it stops the pods that were deleted by force', async () => {
    const { cluster, kill, again, pod, wait, read } = machine
    for (const name of ['waits', 'given-up']) await pod(name, stubborn)
    for (const name of ['waits', 'given-up']) await wait(name, '.status.phase', 'Running')
    const port = /:(\d+)$/.exec(machine.running().readyLine)?.[1]
    await kill()
    const refused = `dial tcp 127.0.0.1:${port}: connect: connection refused`
    equal(
      (await cluster.ask(['logs', 'waits'])).err,
      `Error from server: Get "https://127.0.0.1:${port}/containerLogs/default/waits/c": ${refused}\n`,
    )
    match((await cluster.ask(['exec', 'waits', '--', 'true'])).err, new RegExp(`error dialing backend: ${refused}`))
    match((await cluster.ask(['port-forward', 'pod/waits', ':80'])).err, new RegExp(refused))
    const late = await cluster.ask(['delete', 'pod', 'waits', '--timeout=3s'])
    match(late.err, /timed out waiting for the condition/)
    ok((await read('waits', '.metadata.deletionTimestamp')) !== '')
    equal((await cluster.ask(['delete', 'pod', 'given-up', '--grace-period=0', '--force'])).code, 0)
    equal((await cluster.ask(['get', 'pod', 'given-up'])).code, 1)
    const id = await read('web', `${status}.containerID`)
    await again()
    await k(['wait', 'pod/waits', '--for=delete', '--timeout=200s'])
    await until(async () => JSON.stringify(await left()) === JSON.stringify(nothing))
    equal(await read('web', `${status}.containerID`), id, 'a pod that was not deleted keeps running')
  })

  /** Calls the API server with only this token. */
  async function tokenCall(token: string, path: string): Promise<{ readonly status: number; readonly text: string }> {
    const { server, authority } = parseKubeconfig(await readFile(machine.cluster.up.kubeconfig, 'utf8'))
    const request = get(`${server}${path}`, {
      ca: authority,
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() }
  }
})
