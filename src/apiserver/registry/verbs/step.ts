// step: one synchronous step of a write, such as decoding or validation, with what follows from it asynchronously, such as the
// calls of webhooks. The step is measured. A request that may take long waits for its turn before each step.
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { ResourceRequest } from '../../request/request.ts'
import type { ResourceDeps } from '../resource/resource-deps.ts'

export const step = <T>(
  { loop }: ResourceDeps,
  request: ResourceRequest,
  work: () => MaybePromise<T>,
): MaybePromise<T> =>
  request.pace === undefined ? loop.step(request, work) : thenMaybe(request.pace(), () => loop.step(request, work))
