// A kubelet whose runtime does not respond at its start: the node exists and reports why it is not ready, until it is.
import { equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startContainerd } from '../containers/containerd.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { untilMatch } from '../until.ts'
import { goodToken, startJoinable } from './joining.harness.ts'

inNamespaces(import.meta.url, () => {
  test('a runtime that does not respond at the start makes its node not ready, and ready once it responds', async () => {
    const controller = new AbortController()
    await using containerd = await startContainerd(controller.signal)
    await using cluster = await startJoinable()
    const { k, ask } = cluster
    const bootstrap = await cluster.bootstrapKubeconfig('good', `${goodToken.id}.${goodToken.secret}`)
    const pid = Number(readFileSync(join(containerd.folder, 'containerd', 'containerd.pid'), 'utf8'))
    process.kill(pid, 'SIGSTOP')
    const starting = cluster.kubelet(
      'worker',
      ...['--bootstrap-kubeconfig', bootstrap, '--cgroup-root', containerd.cgroupParent],
      ...['--runtime', 'containerd', '--container-runtime-endpoint', `unix://${containerd.containerd.socketPath}`],
    )
    const ready = '.status.conditions[?(@.type=="Ready")]'
    const look = `jsonpath={${ready}.status} {${ready}.reason} {${ready}.message} {.status.nodeInfo.containerRuntimeVersion}`
    const seen = async () => (await ask(['get', 'node', 'worker', '-o', look])).out
    equal(await untilMatch(seen, /^False/), 'False KubeletNotReady container runtime is down remote://Unknown')
    process.kill(pid, 'SIGCONT')
    await starting
    await untilMatch(seen, /^True KubeletReady kubelet is posting ready status containerd:\/\/.+/)
    const lease = ['get', 'lease', '-n', 'kube-node-lease', 'worker', '-o', 'jsonpath={.spec.holderIdentity}']
    equal(await k(lease), 'worker')
  })
})
