// The time: the slider over the retained revisions, their replay, and the steps of a cluster with virtual time.
import { html, nothing, svg, type TemplateResult } from 'lit'
import { recentChanges } from '../../model/recent-changes.ts'
import type { RevisionRange } from '../../source/source.ts'
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
      >Time ${marksView(app, range)}
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

/** Who has changed what, as marks above the slider; the overview lists the same changes with links. */
function marksView(app: App, { oldest, newest }: RevisionRange): TemplateResult {
  const { namespace } = app.location
  const changes = app.changeMarks.get(namespace, app.record.version, () =>
    recentChanges([...app.record.values()], namespace, marksMax),
  )
  const shown = changes.filter(({ revision }) => revision >= oldest && revision <= newest)
  const placeOf = (revision: number): number => ((revision - oldest) / Math.max(1, newest - oldest)) * 100
  return html`<svg class="marks" aria-hidden="true" viewBox="0 0 100 1" preserveAspectRatio="none">
    ${shown.map(
      ({ revision, sender, verb, object }) =>
        svg`<path d=${`M${placeOf(revision).toFixed(2)} 0V1`}><title>${sender} ${verb} ${object.resource} ${object.name}</title></path>`,
    )}
  </svg>`
}

const marksMax = 100

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
