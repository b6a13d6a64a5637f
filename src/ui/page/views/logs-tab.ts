// The logs of a pod, or of the pods of a workload: of one container, followed, or of several together.
import { html, nothing, type TemplateResult } from 'lit'
import { foundLines, markedPieces } from '../model/log-lines.ts'
import { podsOfWorkload, summaryQueries } from '../model/summary/summary.ts'
import { resourceId, type ClusterObject, type LogSource } from '../source/source.ts'
import type { App } from '../state/app.ts'
import { logSourcesMax } from '../state/pod-logs.ts'
import { failureView } from './frame/failure-view.ts'

/** Chooses all pods, or all containers; no object has this name. */
const all = '*'
/** Names the container that kubectl shows unless another one is chosen. */
const defaultContainer = 'kubectl.kubernetes.io/default-container'

export function logsTab(app: App, object: ClusterObject): TemplateResult {
  const { logs, location, details } = app
  const isOfPod = location.object?.resource === 'pods'
  const id = details.resource === undefined ? '' : resourceId(details.resource)
  if (!isOfPod) app.related.follow(summaryQueries(id, object), object.metadata.resourceVersion ?? '', undefined)
  const pods = isOfPod ? [object] : podsOfWorkload(id, object, app.related.lists)
  if (pods.length === 0) return html`<p class="empty">${app.related.isLoaded ? 'It has no pods.' : 'Loading…'}</p>`
  const pod = pods.find(({ metadata }) => metadata.name === location.pod)
  const chosen = pod === undefined ? pods : [pod]
  const containers = [...new Set(chosen.flatMap(containersOf))]
  const preferred = chosen[0]?.metadata.annotations?.[defaultContainer]
  const container =
    [location.container, preferred].find((name) => name === all || (name !== undefined && containers.includes(name))) ??
    containers[0] ??
    all
  const sources = chosen.flatMap((each) => sourcesOf(each, container))
  logs.follow(sources)
  const { lines, total } = foundLines(logs.text, logs.search)
  return html`<div class="bar logs" role="group" aria-label="Logs">
      ${
        isOfPod
          ? nothing
          : choice(
              'Pod',
              [[all, `all ${pods.length} pods`], ...pods.map(({ metadata: { name } }) => [name, name] as const)],
              pod?.metadata.name ?? all,
              (name) => app.go({ pod: name === all ? '' : name }),
            )
      }
      ${choice(
        'Container',
        [
          ...containers.map((name) => [name, name] as const),
          ...(containers.length > 1 ? [[all, 'all containers'] as const] : []),
        ],
        container,
        (name) => app.go({ container: name }),
      )}
      <label
        ><input
          type="checkbox"
          .checked=${logs.isPrevious}
          @change=${(change: Event) => logs.showPrevious((change.target as HTMLInputElement).checked)}
        />
        before the last restart</label
      >
      <input
        type="search"
        aria-label="Search in the log"
        placeholder="search"
        .value=${logs.search}
        @input=${(input: Event) => logs.setSearch((input.target as HTMLInputElement).value)}
      />
      <span class="count" role="status"
        >${logs.search === '' ? `${total} lines` : `${lines.length} of ${total} lines`}</span
      >
      <button @click=${() => save(app, object, container)}>Download</button>
      ${failureView(app, 'logs')}
    </div>
    ${sources.length > logSourcesMax ? html`<p class="detail">The first ${logSourcesMax} of ${sources.length} logs are shown.</p>` : nothing}
    ${logs.failures.map((text) => html`<p class="problem" role="alert">${text}</p>`)}
    <pre class="log" tabindex="0" role="log" aria-label="Log" data-follows-end>
${logs.search === '' ? logs.text : lines.map((line) => lineView(line, logs.search))}</pre>
    ${logs.hasEnded ? html`<p class="detail">The log has ended. <button @click=${() => logs.again()}>Read it again</button></p>` : nothing}`
}

function lineView(line: string, search: string): TemplateResult {
  return html`${markedPieces(line, search).map((piece, at) => (at % 2 === 1 ? html`<mark>${piece}</mark>` : piece))}${'\n'}`
}

function choice(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  value: string,
  choose: (value: string) => void,
): TemplateResult {
  return html`<select
    aria-label=${label}
    @change=${(change: Event) => choose((change.target as HTMLSelectElement).value)}
  >
    ${options.map(([each, text]) => html`<option value=${each} ?selected=${each === value}>${text}</option>`)}
  </select>`
}

interface Containers {
  readonly containers?: readonly { readonly name: string }[]
  readonly initContainers?: readonly { readonly name: string }[]
  readonly ephemeralContainers?: readonly { readonly name: string }[]
}

function containersOf({ spec }: ClusterObject): readonly string[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = (spec ?? {}) as Containers
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name)
}

const sourcesOf = (pod: ClusterObject, container: string): readonly LogSource[] =>
  containersOf(pod)
    .filter((name) => container === all || name === container)
    .map((name) => ({ namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name, container: name }))

function save(app: App, { metadata: { name } }: ClusterObject, container: string): void {
  void app.attempt('logs', async () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([await app.logs.whole()], { type: 'text/plain' }))
    link.download = `${name}${container === all ? '' : `-${container}`}.log`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
