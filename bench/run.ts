// npm run bench [-- name …]: runs all benchmarks, or the named ones.
import { admissionBench } from './admission.ts'
import { aggregationBench } from './aggregation.ts'
import { apiBench } from './api.ts'
import { applyBench } from './apply.ts'
import { autoscalingBench } from './autoscaling.ts'
import type { Bench } from './bench.ts'
import { celBench } from './cel.ts'
import { claimsBench } from './claims.ts'
import { clusterBench } from './cluster.ts'
import { controllersBench } from './controllers.ts'
import { customResourcesBench } from './custom-resources.ts'
import { dnsBench } from './dns.ts'
import { endChildrenOnSignal } from './end-children.ts'
import { fairnessBench } from './fairness.ts'
import { floodBench } from './flood.ts'
import { flowCostBench } from './flow-cost.ts'
import { flowBench } from './flow.ts'
import { grpcMessagesBench } from './grpc-messages.ts'
import { hoursBench } from './hours.ts'
import { identityBench } from './identity.ts'
import { ingressBench } from './ingress.ts'
import { isolationBench } from './isolation.ts'
import { kubeletBench } from './kubelet.ts'
import { kwokBench } from './kwok.ts'
import { localPathBench } from './local-path.ts'
import { longStepsBench } from './long-steps.ts'
import { networkPolicyBench } from './network-policy.ts'
import { nodesBench } from './nodes.ts'
import { proxyBench } from './proxy.ts'
import { requestBench } from './request.ts'
import { schedulerBench } from './scheduler.ts'
import { schemaBench } from './schema.ts'
import { selection } from './selection.ts'
import { serversBench } from './servers.ts'
import { soakBench } from './soak.ts'
import { startBench } from './start.ts'
import { storeBench } from './store.ts'
import { uiPageBench } from './ui-page.ts'
import { uiBench } from './ui.ts'
import { versusBench } from './versus.ts'
import { wireBench } from './wire.ts'
import { wrkBench } from './wrk.ts'

const benches: readonly Bench[] = [
  admissionBench,
  aggregationBench,
  apiBench,
  applyBench,
  autoscalingBench,
  celBench,
  claimsBench,
  clusterBench,
  controllersBench,
  customResourcesBench,
  dnsBench,
  fairnessBench,
  floodBench,
  flowBench,
  flowCostBench,
  grpcMessagesBench,
  hoursBench,
  identityBench,
  ingressBench,
  isolationBench,
  kubeletBench,
  kwokBench,
  localPathBench,
  longStepsBench,
  networkPolicyBench,
  nodesBench,
  proxyBench,
  requestBench,
  schedulerBench,
  schemaBench,
  serversBench,
  soakBench,
  startBench,
  storeBench,
  uiBench,
  uiPageBench,
  versusBench,
  wireBench,
  wrkBench,
]

function wantedBenches(): readonly Bench[] {
  try {
    return selection(benches, process.argv.slice(2))
  } catch (error) {
    console.error((error as Error).message)
    return process.exit(2)
  }
}

endChildrenOnSignal()
for (const bench of wantedBenches()) {
  console.log(`# ${bench.name}`)
  for await (const line of await bench.run()) console.log(`  ${line}`)
}
