// The requests that scale, restart and delete an object, as kubectl makes them. Each returns its result in words.
import type { Clock } from '../../../base/time/clock.ts'
import { deleteObject, restartWorkload, scaleObject } from '../../calls/workload-calls.ts'
import type { Effect } from '../state/state.ts'
import { targetOf, type ServerApi } from './server-api.ts'

export interface CallDeps {
  readonly api: ServerApi
  readonly clock: Clock
}

type WorkloadEffect = Extract<Effect, { kind: 'delete' | 'restart' | 'scale' }>

export async function callFor(effect: WorkloadEffect, { api, clock }: CallDeps, signal: AbortSignal): Promise<string> {
  const { resource, namespace, name } = effect.object
  const target = targetOf(resource, { namespace, name })
  switch (effect.kind) {
    case 'delete':
      await deleteObject(api, target, effect, signal)
      return 'is being deleted'
    case 'scale':
      await scaleObject(api, target, effect.replicas, signal)
      return 'scaled'
    case 'restart':
      await restartWorkload(api, target, { singular: resource.singular, nowMs: clock.nowMs() }, signal)
      return 'restarted'
    default:
      return effect satisfies never
  }
}
