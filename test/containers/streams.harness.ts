// An API server and one node with real containers, without a kubelet: the harness runs pods and writes their status, so
// that only the streams are under test.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod, type Pod } from '../../src/api/core/v1/pod/pod.ts'
import { ConversionMetrics } from '../../src/apiserver/custom-resources/conversion-metrics.ts'
import { ServerMetrics } from '../../src/apiserver/metrics/server-metrics.ts'
import { RequestMetrics } from '../../src/apiserver/request/request-metrics.ts'
import { ApiServer } from '../../src/apiserver/server.ts'
import { inlineYaml } from '../../src/apiserver/http/yaml-parser.ts'
import { handleHttp } from '../../src/apiserver/http-handler.ts'
import { HttpsKubelets } from '../../src/apiserver/kubelet-client/https-kubelets.ts'
import { kubeletClient } from '../../src/apiserver/kubelet-client/direct-kubelets.ts'
import { realClock, rfc3339 } from '../../src/base/time/clock.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { KubeletServer } from '../../src/kubelet/server/kubelet-server.ts'
import { plainContainer, plainSandbox } from '../../src/machine/runtime/runtime-config.ts'
import { NodeLogFiles } from '../../src/machine/logs/node-log-files.ts'
import { Authority } from '../../src/pki/authority.ts'
import type { ListenOptions } from '../../src/platform/http/listener.ts'
import { kubeconfigText } from '../../src/pki/kubeconfig.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { nodeInflateRaw } from '../../src/platform/node/inflate.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import { until } from '../until.ts'
import { busybox } from './busybox.ts'
import { startContainerd, type TestContainerd } from './containerd.harness.ts'
import { startRegistry } from './registry.ts'
import { openPolicies } from '../../src/apiserver/open-policies.ts'

export interface StreamsNode extends AsyncDisposable {
  readonly kubeconfig: string
  readonly test: TestContainerd
  /** Sends a request to the API server as the administrator. */
  call(method: string, target: string, body?: unknown): Promise<unknown>
  /** Runs a pod with one container; returns the container id. */
  run(name: string, command: readonly string[], more?: { readonly stdin?: 'once' }): Promise<string>
  /** Restarts the container of a pod after it has exited; returns the new id. */
  restart(name: string, command: readonly string[]): Promise<string>
}

const container = 'main'

export async function startStreamsNode(signal: AbortSignal): Promise<StreamsNode> {
  const stack = new AsyncDisposableStack()
  const registry = stack.use(await startRegistry())
  const test = stack.use(await startContainerd(signal))
  const { runtime } = test.containerd
  const image = registry.push('busybox:1', busybox())
  const imageId = await runtime.pullImage(image, undefined, signal)

  const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto })
  const identity = (commonName: string, use: 'client' | 'server', organizations: readonly string[] = []) =>
    authority.issue({
      subject: { commonName, organizations: [...organizations] },
      uses: [use],
      addresses: ['127.0.0.1'],
    })
  const api = identity('kube-apiserver', 'server')
  const admin = identity('admin', 'client', ['system:masters'])
  const client = identity(kubeletClient.commonName, 'client', kubeletClient.organizations)
  const kubelet = identity('system:node:n1', 'server', ['system:nodes'])

  const metrics = new Metrics()
  const server: ApiServer = new ApiServer({
    store: new MemoryStore(realClock),
    clock: realClock,
    random: systemRandom,
    flow: new FlowRecorder(realClock),
    log: silentLog,
    metrics,
    requestMetrics: new RequestMetrics(metrics),
    serverMetrics: new ServerMetrics(metrics),
    conversionMetrics: new ConversionMetrics(metrics),
    policies: () => openPolicies,
    bootstrapObjects: [],
    digest: (text) => String(text.length),
    kubelets: new HttpsKubelets({
      outbound: nodePlatform.outbound,
      tls: { authority: authority.certificate, ...client },
      findNode: (name) => server.registry.cached(node, '', name),
    }),
  })
  const tasks = stack.use(new TaskGroup())
  const ready = Promise.withResolvers<void>()
  tasks.start('server', (stop) => server.run(stop, ready.resolve))
  await ready.promise

  const listen = (who: { certificate: string; key: string }, handle: ListenOptions['handle']) =>
    nodePlatform.listeners.listen({
      host: '127.0.0.1',
      port: 0,
      tls: { ...who, clientAuthorities: { users: authority.certificate } },
      handle,
    })
  const apiListener = await listen(api, (request) =>
    handleHttp(request, { server, clock: realClock, random: systemRandom, log: silentLog, yaml: inlineYaml }),
  )
  stack.defer(() => apiListener.close(0))
  const pods = new Map<string, string>()
  const kubeletServer = new KubeletServer({
    host: {
      nodeName: 'n1',
      runtime,
      logs: new NodeLogFiles(join(test.folder, 'logs')),
      pod: (namespace, name) => server.registry.cached(pod, namespace, name),
      pods: () =>
        Promise.resolve([...pods.keys()].flatMap((name) => server.registry.cached(pod, 'default', name) ?? [])),
    },
    auth: {
      authenticateToken: () => Promise.resolve(undefined),
      authorize: ({ name }) => Promise.resolve(name === kubeletClient.commonName),
    },
    outbound: nodePlatform.outbound,
    sha1: nodePlatform.crypto.sha1,
    inflateRaw: nodeInflateRaw,
    clock: realClock,
    log: silentLog,
  })
  const kubeletListener = await listen(kubelet, (request) => kubeletServer.handle(request))
  stack.defer(() => kubeletListener.close(0))

  const origin = `https://127.0.0.1:${apiListener.port}`
  const kubeconfig = join(test.folder, 'kubeconfig')
  await writeFile(kubeconfig, kubeconfigText({ server: origin, authority: authority.certificate, identity: admin }))
  const outbound = nodePlatform.outbound.connect({ origin, tls: { authority: authority.certificate, ...admin } })
  stack.defer(() => outbound.close())

  const call: StreamsNode['call'] = async (method, target, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { 'content-type': type, accept: 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await outbound.send({ method, target, headers, ...sent }, signal)
    let text = ''
    for await (const piece of answer.body) text += Buffer.from(piece).toString()
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  await call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  await call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletListener.port } },
  }
  await call('PATCH', '/api/v1/nodes/n1/status', { status })

  const sandboxOf = (name: string) => ({
    ...plainSandbox(pods.get(name) ?? '', 'default', name),
    logDirectory: join(test.folder, 'logs', name),
    cgroupParent: test.cgroupParent,
  })
  const start = async (
    name: string,
    sandboxId: string,
    attempt: number,
    command: readonly string[],
    stdin: boolean,
  ) => {
    const config = { ...plainContainer(container, image, attempt), imageId, command, stdin, stdinOnce: stdin }
    const id = await runtime.createContainer(sandboxId, config, sandboxOf(name), signal)
    await runtime.startContainer(id, signal)
    return id
  }
  const report = (name: string, id: string, podIP: string, lastState: object = {}) =>
    call('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, {
      status: {
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        containerStatuses: [
          {
            name: container,
            image,
            imageID: imageId,
            ready: true,
            restartCount: 0,
            containerID: `containerd://${id}`,
            state: { running: { startedAt: rfc3339(realClock.nowMs()) } },
            lastState,
          },
        ],
      },
    })
  return {
    kubeconfig,
    test,
    call,
    async run(name, command, { stdin } = {}) {
      const takesInput = stdin === 'once'
      const spec = {
        nodeName: 'n1',
        containers: [{ name: container, image, stdin: takesInput, stdinOnce: takesInput }],
      }
      const made = (await call('POST', '/api/v1/namespaces/default/pods', { metadata: { name }, spec })) as Pod
      pods.set(name, made.metadata.uid)
      const sandboxId = await runtime.runSandbox(sandboxOf(name), signal)
      const id = await start(name, sandboxId, 0, command, takesInput)
      const seen = await runtime.inspect(made.metadata.uid, signal)
      await report(name, id, seen?.ips[0] ?? '')
      return id
    },
    async restart(name, command) {
      const look = () => runtime.inspect(pods.get(name) ?? '', signal)
      await until(async () => (await look())?.containers.at(-1)?.state === 'exited')
      const seen = await look()
      const last = seen?.containers.at(-1)
      if (seen === undefined || last === undefined) throw new Error(`pod ${name} does not run`)
      const id = await start(name, seen.sandboxId, last.attempt + 1, command, false)
      const terminated = { exitCode: last.exitCode, containerID: `containerd://${last.id}` }
      await report(name, id, seen.ips[0] ?? '', { terminated })
      return id
    },
    async [Symbol.asyncDispose]() {
      for (const uid of pods.values()) {
        const seen = await runtime.inspect(uid, signal)
        if (seen !== undefined) await runtime.removeSandbox(seen.sandboxId, signal)
      }
      await stack.disposeAsync()
    },
  }
}
