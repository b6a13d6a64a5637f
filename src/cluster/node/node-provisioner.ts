// The provisioner of `local-path` volumes on a node of another process than the API server. It acts as an agent of the node,
// which can only write volumes of that node (NodeRestriction).
import type { TaskGroup } from '../../base/async/task-group.ts'
import { context } from '../../base/observability/context.ts'
import { selfSubjectAccessReview } from '../../api/authorization/v1/self-subject-access-review.ts'
import {
  startLocalPathProvisioner,
  type LocalPathProvisionerDeps,
} from '../../storage/local-path/local-path-provisioner.ts'

/** How often the permission is requested until it is granted. */
const reviewEveryMs = 60_000

/** Waits until provisioners of nodes may create volumes: `coxswain up` permits it, other clusters need not. */
export function startNodeProvisioner(deps: LocalPathProvisionerDeps, tasks: TaskGroup): void {
  tasks.start('local-path permission', async (signal) => {
    while (!(await mayProvision(deps, signal))) await deps.clock.sleep(reviewEveryMs, signal)
    startLocalPathProvisioner(deps, tasks)
  })
}

async function mayProvision({ client, log }: LocalPathProvisionerDeps, signal: AbortSignal): Promise<boolean> {
  const spec = { resourceAttributes: { verb: 'create', resource: 'persistentvolumes' } }
  try {
    const review = await client.of(selfSubjectAccessReview).create({ metadata: {}, spec }, '', context(signal))
    return review.status?.allowed ?? false
  } catch (error) {
    if (signal.aborted) throw error
    log.debug('the permission to provision volumes cannot be reviewed', { error })
    return false
  }
}
