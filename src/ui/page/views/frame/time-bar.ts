// The time: the slider over the retained revisions, their replay, and the steps of a cluster with virtual time.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../../state/app.ts'

export function timeBar(app: App): TemplateResult | typeof nothing {
  const { range, isReplaying } = app.time
  if (range === undefined) return nothing
  const { revision } = app.location
  const refresh = (): void => void app.attempt('time', () => app.time.refresh())
  const seek = (input: Event): void => {
    app.time.stop()
    app.go({ revision: Number((input.target as HTMLInputElement).value) })
  }
  return html`<label class="time"
      >Time
      <input
        type="range"
        min=${range.oldest}
        max=${range.newest}
        .value=${String(revision ?? range.newest)}
        @focus=${refresh}
        @input=${seek}
    /></label>
    <output>${revision === undefined ? 'now' : revisionText(revision, app.time.atMs(revision))}</output>
    <button ?disabled=${revision === undefined} @click=${() => app.time.showPresent()}>Now</button>
    ${
      isReplaying
        ? html`<button @click=${() => app.time.stop()}>Stop</button>`
        : html`<button @click=${() => void app.attempt('time', () => app.time.replay())}>Replay</button>`
    }`
}

/** The revision and its date. */
export const revisionText = (revision: number, atMs: number | undefined): string =>
  atMs === undefined
    ? `revision ${revision}`
    : `revision ${revision} at ${new Date(atMs).toISOString().replace('T', ' ').replace('Z', ' UTC')}`

export function stepBar(app: App): TemplateResult | typeof nothing {
  const { clock } = app.time
  if (clock === undefined) return nothing
  const advance = (step: 'event' | number) => () => void app.attempt('time', () => app.time.advance(step))
  return html`<span class="steps" role="group" aria-label="Virtual time">
    <output>${new Date(clock.nowMs).toISOString()}</output>
    <button @click=${advance('event')}>Next event</button>
    <button @click=${advance(1_000)}>+1 s</button>
    <button @click=${advance(10_000)}>+10 s</button>
  </span>`
}
