// coxswain k3s: a cluster with the flags, files and log line of k3s' image, for programs that start that image, such as the
// modules of Testcontainers. It is the entry point of the image of Coxswain.
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { errorText } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { connect } from '../../cluster/client/connect.ts'
import { missingContainerPrerequisites } from '../../cluster/node/container-prerequisites.ts'
import { NodeCgroups } from '../../machine/cgroups/node-cgroups.ts'
import { leaveNamespaceRoot } from '../../machine/cgroups/node-namespace-root.ts'
import { kubeconfigText, parseKubeconfig } from '../../pki/kubeconfig.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { k3sOptions, k3sServerOf, type K3sServer } from '../options/k3s-options.ts'
import { waitUntilReady } from '../output/wait-until-ready.ts'
import { runUp, type UpFlags } from './up.ts'

/** k3s logs it on standard error when its node is ready. */
const readyLine = 'Node controller sync successful'
const readyMsMax = 10 * 60_000

const { files } = nodePlatform

export const k3s = defineCommand({
  name: 'k3s',
  summary: "runs a cluster with the flags and files of k3s' image, for programs that start that image",
  operands: 'server',
  options: k3sOptions,
  run({ operands: [operand], options }, terminal) {
    if (operand !== 'server') throw new UsageError(`the operand is server, not ${JSON.stringify(operand ?? '')}`)
    const server = k3sServerOf(options, terminal.environment)
    return runK3sServer(server, terminal, missingContainerPrerequisites() === undefined)
  },
})

export async function runK3sServer(server: K3sServer, terminal: Terminal, hasContainers: boolean): Promise<number> {
  const { err } = terminal
  for (const note of server.notes) err(`k3s: ${note}\n`)
  if (!hasContainers) return runUntilEnd({ ...server.flags, runtime: 'simulated' }, server, terminal)
  // Without privileges the control groups are read-only, and a simulated node runs.
  await leaveNamespaceRoot().catch((error: unknown) => err(`k3s: pods may have no limits: ${errorText(error)}\n`))
  // Containers of several clusters may share the control groups of the machine. Those of this one end with it.
  const cgroup = `/coxswain-${hostname()}`
  try {
    return await runUntilEnd({ ...server.flags, 'cgroup-root': cgroup, 'stop-containers': true }, server, terminal)
  } finally {
    await (await NodeCgroups.open()).remove(cgroup).catch((error: unknown) => {
      err(`k3s: the control group ${cgroup} stays: ${errorText(error)}\n`)
    })
  }
}

function runUntilEnd(flags: UpFlags, server: K3sServer, terminal: Terminal): Promise<number> {
  const { err, signal } = terminal
  const sinceMs = realClock.nowMs()
  return runUp(flags, terminal, async () => {
    const admin = join(server.dataDirectory, 'admin.kubeconfig')
    await writeKubeconfig(admin, server)
    await using connection = await connect(admin, { name: 'coxswain k3s', signal })
    const expected = { nodes: 1, sinceMs, timeoutMs: readyMsMax }
    const missing = await waitUntilReady(connection.client, expected, realClock, signal)
    if (missing.length > 0) throw new Error(`not ready after ${readyMsMax / 60_000} minutes: ${missing.join('; ')}`)
    err(`${readyLine}\n`)
  })
}

/** It replaces what is there, as k3s does: the file is not shared with other clusters. */
async function writeKubeconfig(admin: string, { kubeconfig: { path, mode } }: K3sServer): Promise<void> {
  const content = await files.read(admin)
  if (content === undefined) throw new Error(`there is no ${admin}`)
  const names = { cluster: 'default', user: 'default' }
  await files.makeDirectory(dirname(path))
  await files.write(path, kubeconfigText(parseKubeconfig(new TextDecoder().decode(content)), names), mode)
}
