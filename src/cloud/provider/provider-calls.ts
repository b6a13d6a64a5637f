// Calls to a provider: each is recorded in the flow of its cause and has a deadline.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText } from '../../base/observability/log.ts'

export interface ProviderCallDeps {
  readonly clock: Clock
  readonly flow: FlowRecorder
}

/** Clouds need minutes for some load balancers. */
export const providerCallMsMax = 300_000

export type ProviderCall = <T>(what: string, context: Context, run: (context: Context) => Promise<T>) => Promise<T>

/** Calls of one controller to one provider. */
export const providerCalls =
  (controller: string, provider: string, { clock, flow }: ProviderCallDeps): ProviderCall =>
  async (what, { signal, cause }, run) => {
    const call = flow.record('call', `controller/${controller}`, `cloud/${provider}`, what, undefined, 0, cause)
    const deadline = new AbortController()
    const timer = clock.after(providerCallMsMax, () =>
      deadline.abort(new Error(`the cloud did not answer within ${providerCallMsMax / 1_000}s`)),
    )
    try {
      const answer = await run({ signal: AbortSignal.any([signal, deadline.signal]), cause })
      flow.finish(call, 'ok')
      return answer
    } catch (error) {
      flow.finish(call, errorText(error))
      throw error
    } finally {
      timer.cancel()
    }
  }
