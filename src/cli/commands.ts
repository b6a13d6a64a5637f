// All commands, in alphabetical order.
import type { Command } from './command/command.ts'
import { agent } from './commands/agent.ts'
import { announcer } from './commands/announcer.ts'
import { apiserver } from './commands/apiserver.ts'
import { cloudControllerManager } from './commands/cloud-controller-manager.ts'
import { completion } from './commands/completion.ts'
import { controllerManager } from './commands/controller-manager.ts'
import { dns } from './commands/dns.ts'
import { down } from './commands/down.ts'
import { etcd } from './commands/etcd.ts'
import { flow } from './commands/flow.ts'
import { image } from './commands/image.ts'
import { k3s } from './commands/k3s.ts'
import { kubeApiserver } from './commands/kube-apiserver.ts'
import { kubectl } from './commands/kubectl.ts'
import { kubelet } from './commands/kubelet.ts'
import { kwok } from './commands/kwok.ts'
import { lab } from './commands/lab.ts'
import { list } from './commands/list.ts'
import { member } from './commands/member.ts'
import { node } from './commands/node.ts'
import { proxy } from './commands/proxy.ts'
import { registry } from './commands/registry.ts'
import { reset } from './commands/reset.ts'
import { restore } from './commands/restore.ts'
import { rotate } from './commands/rotate.ts'
import { scheduler } from './commands/scheduler.ts'
import { server } from './commands/server.ts'
import { service } from './commands/service.ts'
import { snapshot } from './commands/snapshot.ts'
import { status } from './commands/status.ts'
import { token } from './commands/token.ts'
import { tools } from './commands/tools.ts'
import { top } from './commands/top.ts'
import { ui } from './commands/ui.ts'
import { up } from './commands/up.ts'
import { version } from './commands/version.ts'
import { why } from './commands/why.ts'

export const commands: readonly Command[] = [
  agent,
  announcer,
  apiserver,
  cloudControllerManager,
  completion(() => commands),
  controllerManager,
  dns,
  down,
  etcd,
  flow,
  image,
  k3s,
  kubeApiserver,
  kubectl,
  kubelet,
  kwok,
  lab,
  list,
  member,
  node,
  proxy,
  registry,
  reset,
  restore,
  rotate,
  scheduler,
  server,
  service(() => commands),
  snapshot,
  status,
  token,
  tools,
  top,
  ui,
  up,
  version,
  why,
]
