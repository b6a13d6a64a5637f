// The scheduled snapshots of a cluster as a component: where several servers run, one of them takes them.
import { context } from '../../base/observability/context.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { apiServerUser } from '../client/component-users.ts'
import type { SnapshotSchedule } from '../snapshots/snapshot-schedule.ts'
import type { ComponentDefinition } from './component-definition.ts'

const name = 'snapshot-taker'

export const snapshotTakerComponent = (schedule: SnapshotSchedule): ComponentDefinition => ({
  name,
  user: apiServerUser,
  lease: 'coxswain-snapshots',
  prepare({ clock, log, metrics: registry, client: clientAs }) {
    // A start without a schedule does not load what reads and writes snapshots.
    const loaded = import('../snapshots/scheduled-snapshots.ts').then((module) => ({
      ...module,
      metrics: module.snapshotMetrics(registry),
    }))
    return {
      start: (tasks) =>
        tasks.start('scheduled snapshots', async (signal) => {
          const { takeSnapshots, metrics } = await loaded
          const client = clientAs(name, apiServerUser)
          const { metadata } = await client.of(namespace).get('kube-system', context(signal))
          await takeSnapshots(schedule, metadata.uid, { clock, log, metrics }, signal)
        }),
    }
  },
})
