// Flows across processes: events that components report over HTTPS are part of the API server's record.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { textDiagram } from '../../flows/text-diagram.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import { fetchFlowEvents, followFlowEvents } from './fetch-flow-events.ts'
import { adminUser } from './component-users.ts'
import { runControllerManager } from '../run/run-controller-manager.ts'
import { runScheduler } from '../run/run-scheduler.ts'
import { serveCluster } from '../run/served-cluster.harness.ts'

const ctx = context(new AbortController().signal)
const web = { resource: 'deployments', namespace: 'default', name: 'web' }

/** The expected events of a Deployment with one pod, with sender and cause. */
const chain = [
  'API Server ══► Store: put deployment web ',
  'API Server --► controller/deployment: ADDED deployments web',
  'controller/deployment ···►: reconcile default/web',
  'controller/deployment ──► API Server: create replicasets web-',
  'API Server --► controller/replica-set: ADDED replicasets web-',
  'controller/replica-set ···►: reconcile default/web-',
  'controller/replica-set ──► API Server: create pods web-',
  'API Server --► scheduler: ADDED pods web-',
  'scheduler ···►: queue → PreFilter → Filter 1 of 1 → Reserve node-0 ',
  'scheduler ──► API Server: create pods/binding web-',
  'kubelet/node-0 ──► Runtime: start container c ',
]

/** How many of the events occur in this order. */
function drawnOf(diagram: string): number {
  let at = 0
  return chain.filter((arrow) => {
    const found = diagram.indexOf(arrow, at)
    if (found >= 0) at = found
    return found >= 0
  }).length
}

test('the flow is complete and can be followed when controllers and scheduler run in separate processes', async () => {
  await using served = await serveCluster({ controllerManagers: 0 })
  const { cluster, kubeconfig } = served
  await cluster.components.get('scheduler')?.kill()
  const stop = new AbortController()
  const own = { kubeconfig, log: silentLog, onLead: () => undefined }
  const ended = [runControllerManager(own, stop.signal), runScheduler({ ...own, configuration: {} }, stop.signal)]
  const deployments = cluster.client('test', adminUser).of(deployment)
  const create = (name: string) => {
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    return deployments.create({ metadata: { name }, spec }, 'default', ctx)
  }
  // When one pod is available, all components are watching.
  await create('first')
  for await (const event of deployments.watch({ resourceVersion: '0' }, ctx))
    if (event.type !== 'BOOKMARK' && event.object.status.availableReplicas === 1) break
  await create('web')
  const leave = new AbortController()
  const known = new Map<number, FlowEvent>()
  let drawn = ''
  for await (const events of followFlowEvents(kubeconfig, leave.signal)) {
    for (const event of events) known.set(event.id, event)
    drawn = textDiagram(flowTreesOf(known.values(), web))
    if (drawnOf(drawn) === chain.length) break
  }
  leave.abort()
  equal(drawnOf(drawn), chain.length, drawn)
  const events = await fetchFlowEvents(kubeconfig, ctx.signal)
  deepEqual(
    events.filter(({ span, from }) => span !== undefined && !/^(controller\/|scheduler$)/.test(from)),
    [],
  )
  equal(
    events.some(({ arrow, span }) => span !== undefined && (arrow === 'persist' || arrow === 'watch')),
    false,
  )
  stop.abort()
  await Promise.all(ended)
})
