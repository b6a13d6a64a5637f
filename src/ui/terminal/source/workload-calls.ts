// The requests that scale, restart and delete an object, as kubectl makes them. Each returns its result in words.
import type { Clock } from '../../../base/time/clock.ts'
import type { Effect } from '../state/state.ts'
import { jsonType, targetOf, type ServerApi } from './server-api.ts'

export interface CallDeps {
  readonly api: ServerApi
  readonly clock: Clock
}

type WorkloadEffect = Extract<Effect, { kind: 'delete' | 'restart' | 'scale' }>

export async function callFor(effect: WorkloadEffect, { api, clock }: CallDeps, signal: AbortSignal): Promise<string> {
  const { resource, namespace, name } = effect.object
  const target = targetOf(resource, { namespace, name })
  switch (effect.kind) {
    case 'delete': {
      // The object that was shown, and not a new one of the same name.
      const preconditions = effect.uid === '' ? {} : { preconditions: { uid: effect.uid } }
      const grace = effect.isNow ? { gracePeriodSeconds: 1 } : {}
      await api.delete(target, { propagationPolicy: 'Background', ...preconditions, ...grace }, signal)
      return 'is being deleted'
    }
    case 'scale': {
      const { replicas } = effect
      const scale = targetOf(resource, { namespace, name, subresource: 'scale' })
      await api.patch(scale, mergePatch, { spec: { replicas } }, signal)
      return 'scaled'
    }
    case 'restart': {
      const { spec } = (await api.read(target, jsonType, signal)) as { readonly spec?: { readonly paused?: boolean } }
      if (spec?.paused === true)
        throw new Error(`can't restart paused ${resource.singular} (run kubectl rollout resume first)`)
      const restartedAt = new Date(clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z')
      const metadata = { annotations: { 'kubectl.kubernetes.io/restartedAt': restartedAt } }
      await api.patch(target, strategicMergePatch, { spec: { template: { metadata } } }, signal)
      return 'restarted'
    }
    default:
      return effect satisfies never
  }
}

const mergePatch = 'application/merge-patch+json'
const strategicMergePatch = 'application/strategic-merge-patch+json'
