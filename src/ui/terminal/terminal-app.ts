// TerminalApp: connects keys, state, data and screen. It is the only place that acts; update() and render() decide.
import { errorText } from '../../base/observability/log.ts'
import type { Timer } from '../../base/time/clock.ts'
import { KeyDecoder, type Key } from './keys/key-decoder.ts'
import { render } from './render/render.ts'
import type { Frame } from './screen/frame.ts'
import { frameDiff } from './screen/frame-diff.ts'
import { FramePacer } from './screen/frame-pacer.ts'
import type { ListDeps } from './source/follow-list.ts'
import { jsonType, targetOf } from './source/server-api.ts'
import { subscribe } from './source/subscribe.ts'
import { callFor } from './source/workload-calls.ts'
import { drillDownFrom } from './state/drill-down.ts'
import type { ObjectRef } from './state/resources.ts'
import { shownView, type Effect, type Input, type State } from './state/state.ts'
import { update } from './state/update.ts'
import { kubectlText } from './state/workload-actions.ts'

export interface TerminalScreen {
  readonly hasColors: boolean
  /** Returns whether more can be written before the terminal has caught up. */
  write(text: string): boolean
  /** Stops the process until it is continued. */
  suspend(): Promise<void>
  /** Gives the terminal to another program until it ends. */
  run(effect: Extract<Effect, { kind: 'shell' | 'edit' }>, signal: AbortSignal): Promise<void>
}

/** Forwards ports in the background until the signal is aborted; calls back when they are. Rejects when that fails. */
export type ForwardPorts = (
  object: ObjectRef,
  ports: string,
  onReady: (text: string) => void,
  signal: AbortSignal,
) => Promise<void>

export interface AppDeps extends ListDeps {
  readonly forward: ForwardPorts
}

/** An ESC that nothing has followed for so long is the Escape key. */
const escapeMs = 50
const tickMs = 1_000

export class TerminalApp {
  readonly #screen: TerminalScreen
  readonly #deps: AppDeps
  readonly #decoder = new KeyDecoder()
  readonly #pacer: FramePacer
  readonly #stop = new AbortController()
  readonly #ended = Promise.withResolvers<string | undefined>()
  readonly #forwards = new Map<number, AbortController>()
  #state: State
  #frame: Frame | undefined
  #subscription: { readonly id: number; readonly controller: AbortController } | undefined
  #escape: Timer | undefined
  /** Another program has the terminal. */
  #isAway = false
  #isWritable = true

  constructor(screen: TerminalScreen, deps: AppDeps, state: State) {
    this.#screen = screen
    this.#deps = deps
    this.#state = state
    this.#pacer = new FramePacer(deps.clock, () => this.#draw())
  }

  /** Resolves when the user quits or the signal is aborted, or with the name of another context to show. */
  async run(signal: AbortSignal): Promise<string | undefined> {
    const quit = (): void => this.#ended.resolve(undefined)
    signal.addEventListener('abort', quit, { once: true })
    if (signal.aborted) quit()
    this.#follow()
    this.#pacer.request()
    void this.#tick()
    try {
      return await this.#ended.promise
    } finally {
      signal.removeEventListener('abort', quit)
      this.#stop.abort()
      this.#pacer.stop()
      this.#escape?.cancel()
    }
  }

  typed(text: string): void {
    this.#escape?.cancel()
    this.#press(this.#decoder.decode(text))
    if (!this.#decoder.isPending) return
    this.#escape = this.#deps.clock.after(escapeMs, () => this.#press(this.#decoder.flush()))
  }

  /** The terminal has caught up. */
  drained(): void {
    this.#isWritable = true
    this.#pacer.request()
  }

  dispatch(input: Input): void {
    if (this.#stop.signal.aborted) return
    const { state, effects } = update(this.#state, input)
    this.#state = state
    for (const effect of effects) void this.#act(effect)
    this.#follow()
    this.#pacer.request()
  }

  /** Keys that were typed together with one that starts another program are dropped. */
  #press(keys: readonly Key[]): void {
    for (const key of keys) if (!this.#isAway) this.dispatch({ kind: 'key', key })
  }

  #draw(): void {
    if (this.#isAway || !this.#isWritable) return
    const frame = render(this.#state, this.#deps.clock.nowMs())
    const written = frameDiff(this.#frame, frame, this.#screen.hasColors)
    this.#frame = frame
    if (written !== '') this.#isWritable = this.#screen.write(written)
  }

  /** Ages advance although nothing else changes. */
  async #tick(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await this.#deps.clock.sleep(tickMs, signal).catch(() => undefined)
      if (!signal.aborted) this.#pacer.request()
    }
  }

  /** Reads the data of the shown view, and of no other. */
  #follow(): void {
    const view = shownView(this.#state)
    if (this.#subscription?.id === view.id) return
    this.#subscription?.controller.abort()
    const controller = new AbortController()
    this.#subscription = { id: view.id, controller }
    const signal = AbortSignal.any([controller.signal, this.#stop.signal])
    void subscribe(view, this.#state.resources, this.#deps, (data) => !signal.aborted && this.dispatch(data), signal)
  }

  async #act(effect: Effect): Promise<void> {
    const notice = (text: string, isError: boolean): void =>
      this.dispatch({ kind: 'notice', notice: { text, isError } })
    try {
      switch (effect.kind) {
        case 'quit':
          return this.#ended.resolve(undefined)
        case 'context':
          // The notice remains on the screen until the other cluster is connected.
          this.#draw()
          return this.#ended.resolve(effect.name)
        case 'suspend':
          return await this.#leave(() => this.#screen.suspend())
        case 'shell':
        case 'edit':
          return await this.#leave(() => this.#screen.run(effect, this.#stop.signal))
        case 'delete':
        case 'scale':
        case 'restart':
          return await this.#call(effect)
        case 'forward':
          return await this.#forward(effect)
        case 'stop-forward':
          return this.#forwards.get(effect.id)?.abort()
        case 'drill': {
          const { namespace, name, resource } = effect.object
          const object = await this.#deps.api.read(targetOf(resource, { namespace, name }), jsonType, this.#stop.signal)
          const to = drillDownFrom(effect.object, object, this.#state.resources)
          return this.dispatch({ kind: 'drilled', id: effect.id, of: effect.object, to })
        }
        default:
          return effect satisfies never
      }
    } catch (error) {
      notice(errorText(error), true)
    }
  }

  /** Shows the kubectl command with the same effect, and its result. */
  async #call(effect: Extract<Effect, { kind: 'delete' | 'restart' | 'scale' }>): Promise<void> {
    const command = kubectlText(effect.object, effect)
    const outcome = await callFor(effect, this.#deps, this.#stop.signal).then(
      (text) => ({ text, isError: false }),
      (error: unknown) => ({ text: errorText(error), isError: true }),
    )
    this.dispatch({ kind: 'notice', notice: { ...outcome, text: `${command}: ${outcome.text}` } })
  }

  async #forward({ id, object, ports }: Extract<Effect, { kind: 'forward' }>): Promise<void> {
    const controller = new AbortController()
    this.#forwards.set(id, controller)
    const signal = AbortSignal.any([controller.signal, this.#stop.signal])
    const ready = (detail: string): void => this.dispatch({ kind: 'forwarded', id, status: 'Running', detail })
    try {
      await this.#deps.forward(object, ports, ready, signal)
    } catch (error) {
      if (!signal.aborted) this.dispatch({ kind: 'forwarded', id, status: 'Failed', detail: errorText(error) })
    } finally {
      this.#forwards.delete(id)
    }
  }

  /** The screen is drawn completely afterwards. */
  async #leave(elsewhere: () => Promise<void>): Promise<void> {
    this.#isAway = true
    try {
      await elsewhere()
    } finally {
      this.#isAway = false
      this.#frame = undefined
      this.#pacer.request()
    }
  }
}
