// Records decisions.jsonl from upstream's kube-controller-manager. It needs a new kube-apiserver with
// `--enable-aggregator-routing=true`, whose metrics APIs this process serves at an address that is not loopback:
//   node test/horizontal-pod-autoscaler/record.ts <kubeconfig> <kube-controller-manager> <server.crt> <server.key> [name…]
// Names record only the scenarios that contain them. `--without-apis` instead of a name records
// decisions-without-apis.jsonl, which needs an API server that has served no metrics APIs before.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { realClock } from '../../src/base/time/clock.ts'
import { apiService } from '../../src/api/apiregistration/v1/api-service.ts'
import { customResourceDefinition } from '../../src/api/apiextensions/v1/custom-resource-definition.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import type { Client, ResourceClient } from '../../src/client/client.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { metricsGroups, metricsResponse, type Measured } from './metrics-source.ts'
import { widgetDefinition } from './objects.ts'
import { runScenario } from './run-scenario.ts'
import { recordedIn } from './recorded.ts'
import { downscaleStabilizationSeconds, syncSeconds, type Decision } from './scenario.ts'
import { scenarios, scenariosWithoutApis } from './scenarios.ts'

const [kubeconfig = '', controllerManager = '', certificate = '', key = '', ...names] = process.argv.slice(2)
const stop = new AbortController()
await using remote = await openRemote(readFileSync(kubeconfig, 'utf8'), stop.signal)
const client = remote.clientAs('recorder')
const measured = new Map<string, Measured>()

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  const { status, body } = metricsResponse(new URL(request.url ?? '', 'https://metrics'), (name) => measured.get(name))
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
const { port } = server.address() as AddressInfo
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

/** Replaces what an earlier run has left. */
async function put<T extends ApiObject, I>(of: ResourceClient<T, I>, object: I, name: string, namespace: string) {
  if ((await of.find(name, namespace)) !== undefined) await of.delete(name, namespace)
  while ((await of.find(name, namespace)) !== undefined) await sleep(100)
  await of.create(object, namespace)
}

async function serveMetrics(of: Client): Promise<void> {
  const name = 'metrics'
  const ports = [{ port: 443, targetPort: port }]
  await put(of.of(service), { metadata: { name }, spec: { ports } }, name, 'kube-system')
  const slice = {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4' as const,
    endpoints: [{ addresses: [address ?? ''] }],
    ports: [{ name: '', port }],
  }
  await put(of.of(endpointSlice), slice, name, 'kube-system')
  for (const [group, version] of metricsGroups) {
    const spec = { group, version, insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 100 }
    const served = { ...spec, service: { name, namespace: 'kube-system', port: 443 } }
    await put(of.of(apiService), { metadata: { name: `${version}.${group}` }, spec: served }, `${version}.${group}`, '')
  }
  for (const [group, version] of metricsGroups)
    for (;;) {
      const { status } = await of.of(apiService).get(`${version}.${group}`)
      if (status.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True')) break
      await sleep(200)
    }
}

const isWithoutApis = names[0] === '--without-apis'
if (!isWithoutApis) await serveMetrics(client)
const definitions = client.of(customResourceDefinition)
if ((await definitions.find(widgetDefinition.metadata.name)) === undefined) await definitions.create(widgetDefinition)
await sleep(2_000)

const manager = spawn(
  controllerManager,
  [
    `--kubeconfig=${kubeconfig}`,
    '--controllers=horizontal-pod-autoscaler-controller',
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=5000',
    '--kube-api-burst=5000',
    '--concurrent-horizontal-pod-autoscaler-syncs=20',
    `--horizontal-pod-autoscaler-sync-period=${syncSeconds}s`,
    `--horizontal-pod-autoscaler-downscale-stabilization=${downscaleStabilizationSeconds}s`,
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
process.on('exit', () => manager.kill())
await sleep(5_000)
const chosen = isWithoutApis
  ? scenariosWithoutApis
  : scenarios.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
const run = realClock.nowMs().toString(36)
const running = chosen.map(async (scenario, index) => {
  await sleep(index * 100)
  return runScenario(scenario, `hpa-${run}-${index}`, {
    client,
    measured,
    nowMs: () => realClock.nowMs(),
    sleepUntil: (ms) => sleep(Math.max(0, ms - realClock.nowMs())),
  })
})
const decisions = (await Promise.all(running)).flat()
const file = new URL(isWithoutApis ? 'decisions-without-apis.jsonl' : 'decisions.jsonl', import.meta.url)
const isChosen = ({ scenario }: Decision) => chosen.some(({ name }) => name === scenario)
const kept = names.length === 0 || isWithoutApis ? [] : recordedIn(file).filter((decision) => !isChosen(decision))
const order = new Map(scenarios.map(({ name }, index) => [name, index]))
const table = [...kept, ...decisions].toSorted(
  (a, b) => (order.get(a.scenario) ?? 0) - (order.get(b.scenario) ?? 0) || a.step - b.step,
)
writeFileSync(file, table.map((decision) => `${JSON.stringify(decision)}\n`).join(''))
process.stdout.write(`${chosen.length} scenarios, ${decisions.length} decisions\n`)
manager.kill()
server.close()
server.closeAllConnections()
