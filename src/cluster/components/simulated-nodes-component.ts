// The simulated nodes of a process as one component, where several processes use the store: their machines exist in one
// process at a time. Another one that takes over starts them empty, as after a power failure.
import { context, type Context } from '../../base/observability/context.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Client } from '../../client/client.ts'
import { apiServerUser } from '../client/component-users.ts'
import type { Component } from './component.ts'
import type { ComponentDefinition } from './component-definition.ts'

export interface SimulatedNodesSettings {
  /** Their kubelets, and what provisions their volumes. */
  readonly members: readonly Component[]
  /** Removes the Nodes of other processes that had more of them. */
  removeSurplus(client: Client, context: Context): Promise<void>
  /** Ends everything that runs on them. */
  powerOff(): Promise<void>
}

const name = 'simulated-nodes'

export const simulatedNodesComponent = (settings: SimulatedNodesSettings): ComponentDefinition => ({
  name,
  user: apiServerUser,
  lease: 'coxswain-simulated-nodes',
  prepare: (host) => ({
    start: (tasks) =>
      tasks.start(name, async (signal) => {
        const { members, powerOff, removeSurplus } = settings
        await removeSurplus(host.client(name, apiServerUser), context(signal))
        try {
          for (const member of members) member.start()
          await unlessAborted(new Promise<never>(() => {}), signal)
        } finally {
          await Promise.all(members.map((member) => member.kill()))
          await powerOff()
        }
      }),
  }),
})
