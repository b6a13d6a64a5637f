// replayDecisions: runs the scenarios in virtual time, in a cluster without other controllers whose metrics APIs are those
// of the scenarios.
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { Context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { customResourceDefinition } from '../../src/api/apiextensions/v1/custom-resource-definition.ts'
import { PageNotFound, StatusError } from '../../src/api/errors/status-error.ts'
import { Client } from '../../src/client/client.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import type { Transport } from '../../src/client/transport/transport.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { autoscalerDefaults } from '../../src/controllers/horizontal-pod-autoscaler/autoscaler-state.ts'
import { horizontalPodAutoscalerController } from '../../src/controllers/horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'
import { controllerMetrics, startController } from '../../src/controllers/runtime/start-controller.ts'
import { startBareCluster } from '../flows/bare-cluster.ts'
import { metricsResponse, type Measured } from './metrics-source.ts'
import { widgetDefinition } from './objects.ts'
import { runScenario } from './run-scenario.ts'
import { downscaleStabilizationSeconds, type Decision, type Scenario } from './scenario.ts'

/** No scenario takes longer. */
const runMs = 240_000

/** Sends requests for metrics to the scenarios, and all others to the server. */
function withMetrics(transport: Transport, measured: ReadonlyMap<string, Measured>, hasApis: boolean): Transport {
  return {
    send: (call, context) => transport.send(call, context),
    list: (call, context) => transport.list(call, context),
    watch: (call, context) => transport.watch(call, context),
    readText: (path, context) => transport.readText(path, context),
    read(path: string, accept: string, context: Context) {
      const url = new URL(path, 'https://metrics')
      if (!hasApis && url.pathname.startsWith('/apis/metrics.k8s.io/')) return Promise.reject(new PageNotFound())
      if (!hasApis || !/^\/apis\/(custom\.|external\.)?metrics\.k8s\.io\b/.test(url.pathname))
        return transport.read(path, accept, context)
      if (url.pathname === '/apis/custom.metrics.k8s.io')
        return Promise.resolve({ kind: 'APIGroup', versions: [{ version: 'v1beta2' }] })
      const { status, body } = metricsResponse(url, (namespace) => measured.get(namespace))
      return status === 200 ? Promise.resolve(body) : Promise.reject(StatusError.fromStatus(body as object, status))
    },
  }
}

export async function replayDecisions(scenarios: readonly Scenario[], hasApis = true): Promise<readonly Decision[]> {
  await using bare = startBareCluster({ controllerManagers: 0 })
  await using tasks = new TaskGroup()
  const { cluster, clock, random } = bare
  await clock.advance(1_000)
  await cluster.component('scheduler').kill()
  const client = cluster.client('test', adminUser)
  const definitions = client.of(customResourceDefinition)
  await definitions.create(widgetDefinition)
  await clock.advance(10_000)
  const measured = new Map<string, Measured>()
  const own = new Client(withMetrics(cluster.transport('controller/hpa', adminUser), measured, hasApis))
  const deps = { clock, random, log: silentLog }
  const downscaleStabilizationMs = downscaleStabilizationSeconds * 1000
  startController(
    horizontalPodAutoscalerController,
    {
      ...deps,
      client: own,
      flow: cluster.flow,
      informers: new Informers(own, deps, tasks),
      metrics: controllerMetrics(new Metrics()),
      settings: { horizontalPodAutoscaler: { ...autoscalerDefaults, downscaleStabilizationMs } },
    },
    tasks,
  )
  await clock.advance(1_000)
  const running = Promise.all(
    scenarios.map((scenario, index) =>
      runScenario(scenario, `hpa-${index}`, {
        client,
        measured,
        nowMs: () => clock.nowMs(),
        sleepUntil: (ms) => clock.sleep(ms - clock.nowMs(), tasks.signal),
      }),
    ),
  )
  await clock.advance(runMs)
  return (await running).flat()
}
