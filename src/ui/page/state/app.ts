// The state of the page and what changes it. Everything is drawn from this state, at most once per frame.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { FlowRecord } from '../model/flows/flow-record.ts'
import { templateOf } from '../model/template.ts'
import { fragmentOf, isElsewhere, locationOf, viewNames, type PageLocation, type ViewName } from '../model/permalink.ts'
import type { RecentChange } from '../model/recent-changes.ts'
import { ownerTree, type TreeRow } from '../model/owner-tree.ts'
import { TableModel } from '../model/table-model.ts'
import { ObjectDetails } from './object-details.ts'
import { FieldSchemas } from './field-schemas.ts'
import { isSignedOut, RequestError } from '../source/requests.ts'
import { resourceId, type ClusterObject, type Resource, type Source } from '../source/source.ts'
import { Arrivals } from './arrivals.ts'
import { DiagramCache } from './diagram.ts'
import { DiagramWindow } from './diagram-window.ts'
import { Comparison } from './comparison.ts'
import { Creation } from './creation.ts'
import { DrawPace } from './draw-pace.ts'
import { Failures, type FailurePlace } from './failures.ts'
import { KindCounts } from './kind-counts.ts'
import { ObjectActions } from './object-actions.ts'
import { Overview } from './overview.ts'
import { PacedValue } from './paced-value.ts'
import { Palette } from './palette.ts'
import { paletteChoices, paletteSearch } from './palette-choices.ts'
import { PodLogs } from './pod-logs.ts'
import { RelatedObjects } from './related-objects.ts'
import { RowSelection } from './row-selection.ts'
import { TableFollowing } from './table-following.ts'
import { TimeControl } from './time-control.ts'

/** Reconnects after this time when the stream of events ends. */
const reconnectMs = 1_000
/** Pages of older events that are loaded after the first view. */
const pastPagesMax = 10
/** How long the result of an action is shown. */
const noticeMs = 8_000
const sessionEnded = 'There is no session, or it has ended.'
/** Boxes, pods and rates of the map are drawn this often; messages move in every frame. */
const mapStepMs = 200

export interface AppDeps {
  readonly source: Source
  /** Calls back before the next frame. */
  readonly nextFrame: (draw: () => void) => void
  readonly draw: (app: App) => void
  /** The time of the page. */
  readonly nowMs: () => number
  /** The time of day, for ages. */
  readonly timeMs: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Writes to the clipboard. */
  readonly copy: (text: string) => Promise<void>
  /** Writes the fragment of the URL, as a new entry of the browser's history or instead of the present one. */
  readonly setFragment: (fragment: string, isNew: boolean) => void
}

export class App {
  readonly source: Source
  readonly record = new FlowRecord()
  readonly table = new TableModel()
  readonly selection = new RowSelection()
  readonly listKeys = new PacedValue<readonly string[]>(this)
  /** The pods of the map. */
  readonly pods = new TableModel()
  readonly arrivals = new Arrivals()
  readonly time: TimeControl
  readonly details: ObjectDetails
  /** What the summary of the object needs. */
  readonly related: RelatedObjects
  readonly logs: PodLogs
  readonly schemas: FieldSchemas
  readonly creation: Creation
  readonly counts: KindCounts
  readonly palette: Palette
  readonly failures = new Failures()
  readonly overview: Overview
  readonly actions: ObjectActions
  readonly recentChanges = new PacedValue<readonly RecentChange[]>(this)
  /** Marks of the time slider. */
  readonly changeMarks = new PacedValue<readonly RecentChange[]>(this)
  readonly comparison: Comparison
  readonly diagram = new DiagramCache(this)
  readonly mapPace = new DrawPace(this, mapStepMs)
  location: PageLocation
  resources: readonly Resource[] = []
  /** The name of the user; undefined in a report. */
  user: string | undefined
  /** The event under the pointer. */
  hovered: FlowEvent | undefined
  readonly diagramWindow = new DiagramWindow()
  /** The scroll position of the list. */
  listScrollPx = 0
  showsStages = false
  /** A sentence about the last action, for everyone including screen readers. */
  notice = ''
  /** What the page is about besides its data: the failure of a test. */
  headline = ''
  /** Why there is no session; then the page shows nothing but how to open one. */
  signedOut: string | undefined
  /** Whether the navigation is shown on a narrow screen, where it covers the view. */
  isMenuOpen = false
  isHelpOpen = false
  /** Whether events that were recorded before are still being loaded. */
  isLoadingPast = true
  /** Whether events were omitted because the page was too slow. */
  hasGap = false
  readonly #deps: AppDeps
  readonly #stop = new AbortController()
  readonly #firstView = Promise.withResolvers<void>()
  readonly #listing: TableFollowing
  readonly #podListing: TableFollowing
  #isScheduled = false
  #isTicking = false

  constructor(fragment: string, deps: AppDeps) {
    this.#deps = deps
    this.source = deps.source
    this.location = locationOf(fragment, this.home)
    const changed = (): void => this.changed()
    this.details = new ObjectDetails(deps.source, changed)
    const { source, sleep } = deps
    const resources = (): readonly Resource[] => this.resources
    this.schemas = new FieldSchemas({ source, resources })
    this.creation = new Creation({
      source,
      resources,
      readResources: async () => {
        await this.#readResources()
        this.#followCounts()
      },
      namespace: () => this.location.namespace,
      manifestsIn: async (text) => (await import('../model/editing/manifests.ts')).manifestsIn(text),
      kindsChanged: () => this.schemas.forget(),
      sleep,
      changed,
    })
    const resourceOf = (id: string): Resource | undefined => this.resourceOf(id)
    this.related = new RelatedObjects({ source, resourceOf, nowMs: deps.nowMs, sleep, changed })
    this.logs = new PodLogs({ source, sleep, changed })
    this.comparison = new Comparison({ source, changed })
    const whenDrawn = (): Promise<void> => new Promise((resolve) => deps.nextFrame(resolve))
    this.counts = new KindCounts({ source, sleep, changed, whenDrawn })
    const followed = (table: TableModel, place: 'list' | 'map') =>
      new TableFollowing(table, { source, sleep, changed, failed: (error) => this.failed(place, error) })
    this.#listing = followed(this.table, 'list')
    this.#podListing = followed(this.pods, 'map')
    const ownedBy = (object: Pick<ClusterObject, 'metadata'>) => this.ownedBy(object)
    const notify = (text: string): void => this.notify(text)
    const showTerminal = (object: Pick<ClusterObject, 'metadata'>, container: string): void => {
      const { namespace = '', name } = object.metadata
      const shown = { resource: 'pods', namespace, name }
      this.selectObject(shown, { view: 'objects', resource: 'pods', tab: 'Terminal', container })
    }
    const { timeMs, copy } = deps
    this.actions = new ObjectActions({ source, ownedBy, notify, showTerminal, changed, timeMs, sleep, copy })
    this.overview = new Overview({ source, sleep, changed, whenDrawn })
    const choices = { choices: paletteChoices(this), search: paletteSearch(this) }
    this.palette = new Palette({ ...choices, sleep, changed })
    const show = (revision: number | undefined): void => this.go({ revision })
    this.time = new TimeControl({ source, sleep, show, changed, revision: () => this.location.revision })
  }

  async start(): Promise<void> {
    void this.#followEvents(this.#stop.signal)
    this.#followOverview()
    // The diagram needs nothing else, and other requests would delay it.
    if (this.location.view === 'flows') await this.#firstView.promise
    await this.#load()
  }

  async #load(): Promise<void> {
    if (this.signedOut !== undefined) return
    await this.attempt('navigation', async () => {
      await this.#readResources()
      this.#followTable()
      this.#followPods()
      this.#loadDetails()
      this.changed()
      await this.time.refresh()
    })
    if (this.#stop.signal.aborted) return
    this.#followCounts()
    // A server without reviews of users has a user without a name.
    this.user = await this.source.user().catch(() => undefined)
    this.changed()
  }

  async #readResources(): Promise<void> {
    this.resources = distinct(await this.source.resources())
  }

  /** Shows the editor of new objects, with the start of one of the listed kind. */
  startCreation(): void {
    const { view, resource, namespace } = this.location
    const kind = view === 'objects' ? this.resourceOf(resource) : undefined
    const template = templateOf(kind, namespace === '' ? 'default' : namespace)
    this.creation.open(template, kind === undefined ? '' : resourceId(kind))
    this.selectObject(undefined, { view: 'objects' })
  }

  stop(): void {
    this.#stop.abort()
    this.#listing.stop()
    this.#podListing.stop()
    this.time.stop()
    this.counts.stop()
    this.overview.stop()
    this.details.close()
    this.related.close()
    this.logs.close()
  }

  /** The time of the page, in which messages arrive. */
  nowMs(): number {
    return this.#deps.nowMs()
  }

  /** The time for ages; undefined if ages are those of the source: in a report, in the past, and in virtual time. */
  get ageMs(): number | undefined {
    const isPresent = this.source.isLive && this.location.revision === undefined && this.time.clock === undefined
    return isPresent ? this.#deps.timeMs() : undefined
  }

  /** The resource of an owner or another object that is named by its kind. */
  resourceOfKind(kind: string, apiVersion = ''): Resource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.split('/', 1)[0] : ''
    const named = this.resources.filter((resource) => resource.kind === kind)
    return named.find((resource) => resource.group === group) ?? named[0]
  }

  /** Draws again after a time. */
  async later(ms: number, before: () => void): Promise<void> {
    await this.#deps.sleep(ms, this.#stop.signal).catch(() => undefined)
    before()
    this.changed()
  }

  /** Draws again after a time, once for all that wait. */
  drawAgain(ms: number): void {
    if (this.#isTicking) return
    this.#isTicking = true
    void this.later(ms, () => (this.#isTicking = false))
  }

  /** Draws before the next frame; many changes are drawn once. */
  changed(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#deps.nextFrame(() => {
      this.#isScheduled = false
      this.#deps.draw(this)
    })
  }

  /** Changes the view. The URL follows, so that it is always a link to what is shown. */
  go(change: Partial<PageLocation>): void {
    const before = this.location
    this.#show({ ...before, ...change })
    this.#deps.setFragment(fragmentOf(this.location), isElsewhere(before, this.location))
  }

  /** A link to the page with a change. */
  linkTo(change: Partial<PageLocation>): string {
    return fragmentOf({ ...this.location, ...change })
  }

  /** Shows the view of a link. */
  open(fragment: string): void {
    if (fragment !== fragmentOf(this.location)) this.#show(locationOf(fragment, this.home))
  }

  #show(next: PageLocation): void {
    const before = this.location
    this.location = next
    this.isMenuOpen = false
    const isOtherScope = before.namespace !== next.namespace || before.revision !== next.revision
    if (before.view !== next.view || before.resource !== next.resource || isOtherScope) {
      this.selection.clear()
      this.#followTable()
    }
    if (before.namespace !== next.namespace) this.#followCounts()
    if (before.view !== next.view || isOtherScope) this.#followOverview()
    if (before.view !== next.view || before.object !== next.object || before.between !== next.between) {
      this.diagramWindow.reset()
      this.hovered = undefined
    }
    if (before.view !== next.view || before.resource !== next.resource) this.listScrollPx = 0
    if (before.view !== next.view || isOtherScope) this.#followPods()
    if (before.object !== next.object || before.revision !== next.revision) {
      this.related.close()
      this.logs.close()
      this.#loadDetails()
    }
    this.changed()
  }

  resourceOf(id: string): Resource | undefined {
    return this.resources.find((resource) => resourceId(resource) === id || resource.plural === id)
  }

  /** An object has the plural name of its resource only; several groups may have it, so the listed one is preferred. */
  resourceOfObject({ resource: plural }: FlowObject): Resource | undefined {
    const listed = this.resourceOf(this.location.resource)
    return listed?.plural === plural ? listed : this.resourceOf(plural)
  }

  /** Whether objects can be changed: in a running cluster, at present. */
  get canAct(): boolean {
    return this.source.actions !== undefined && this.location.revision === undefined
  }

  /** What an object owns, directly and indirectly, as it was at the shown revision. */
  async ownedBy({ metadata }: Pick<ClusterObject, 'metadata'>): Promise<readonly TreeRow[]> {
    const options = { namespace: metadata.namespace ?? '', revision: this.location.revision }
    const lists = await Promise.all(
      ownedResources
        .flatMap((id) => this.resourceOf(id) ?? [])
        .map(async (resource) => {
          // A user who may not list a kind does not see what is owned of it.
          const objects = await this.source.list(resource, options).catch(ignoreForbidden)
          return objects.map((object) => ({ resource: resource.plural, object }))
        }),
    )
    return ownerTree(lists.flat(), metadata.uid)
  }

  /** The selected flow event. */
  get event(): FlowEvent | undefined {
    return this.location.event === undefined ? undefined : this.record.get(this.location.event)
  }

  selectEvent(event: FlowEvent | undefined): void {
    this.go({ event: event?.id })
    if (event !== undefined) this.details.loadWrite(event, this.resourceOf(event.object?.resource ?? ''))
  }

  hover(event: FlowEvent | undefined): void {
    if (this.hovered === event) return
    this.hovered = event
    if (event !== undefined) this.details.loadWrite(event, this.resourceOf(event.object?.resource ?? ''))
    this.changed()
  }

  selectObject(object: FlowObject | undefined, change: Partial<PageLocation> = {}): void {
    this.go({ object, event: undefined, expanded: [], tab: '', pod: '', container: '', target: '', ...change })
  }

  expand(id: number): void {
    const { expanded } = this.location
    this.go({ expanded: expanded.includes(id) ? expanded.filter((each) => each !== id) : [...expanded, id] })
  }

  /** Shows a lifeline for each member of a group of participants, or one for all. */
  toggleLifelines(prefix: string): void {
    const { unfolded } = this.location
    this.go({
      unfolded: unfolded.includes(prefix) ? unfolded.filter((each) => each !== prefix) : [...unfolded, prefix],
    })
  }

  /** Shows the request filters of calls, or not. */
  toggleStages(): void {
    this.showsStages = !this.showsStages
    this.changed()
  }

  /** Runs an action; its error is shown at its place, until the next action there. */
  async attempt(place: FailurePlace, action: () => Promise<void>): Promise<void> {
    this.failures.clear(place)
    try {
      await action()
    } catch (error) {
      this.failed(place, error)
    }
    this.changed()
  }

  /** Shows an error at its place. */
  failed(place: FailurePlace, error: unknown): void {
    if (this.#stop.signal.aborted) return
    if (error instanceof RequestError && error.code === 401) this.signOut(sessionEnded)
    else this.failures.set(place, error)
    this.changed()
  }

  showHelp(): void {
    this.isHelpOpen = true
    this.changed()
  }

  closeHelp(): void {
    this.isHelpOpen = false
    this.changed()
  }

  toggleMenu(): void {
    this.isMenuOpen = !this.isMenuOpen
    this.changed()
  }

  async logOut(): Promise<void> {
    await this.attempt('page', async () => {
      await this.source.actions?.logOut()
      this.signOut('You have logged out.')
    })
  }

  /** Says what an action has done, for a while. */
  notify(text: string): void {
    this.notice = text
    this.changed()
    void this.later(noticeMs, () => {
      if (this.notice === text) this.notice = ''
    })
  }

  async #followEvents(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const loading = new AbortController()
      let isFirst = true
      const onEvents = (events: readonly FlowEvent[], gap: boolean): void => {
        this.#receive(events, gap, isFirst)
        if (isFirst) this.#deps.nextFrame(() => void this.#afterFirstView(loading.signal))
        isFirst = false
      }
      try {
        await this.source.followEvents(onEvents, signal)
      } catch (error) {
        if (isSignedOut(error)) return this.signOut(sessionEnded)
        this.failed('page', `The connection to the cluster is lost: ${(error as Error).message}`)
      }
      this.#firstView.resolve()
      if (!this.source.isLive) return
      loading.abort()
      await this.#deps.sleep(reconnectMs, signal).catch(() => undefined)
      this.record.clear()
      if (this.resources.length === 0) void this.#load()
      else this.#followCounts()
    }
  }

  /** Shows how to open a session, and why. */
  signOut(reason: string): void {
    this.signedOut = reason
    this.stop()
    this.changed()
    this.#firstView.resolve()
  }

  #receive(events: readonly FlowEvent[], gap: boolean, isFirst: boolean): void {
    if (isFirst) this.failures.clear('page')
    else {
      this.counts.observe(events)
      this.overview.observe(events)
      this.related.observe(events)
    }
    // What was recorded before the page was opened does not move on the map.
    if (!isFirst) this.arrivals.add(events, ({ id }) => this.record.get(id) !== undefined, this.nowMs())
    this.record.add(events)
    this.hasGap ||= gap
    this.changed()
  }

  async #afterFirstView(signal: AbortSignal): Promise<void> {
    this.#firstView.resolve()
    await this.attempt('page', () => this.#loadPast(signal))
  }

  /** The newest events are loaded first. The signal is aborted with the connection, because the next one may be to another process. */
  async #loadPast(signal: AbortSignal): Promise<void> {
    let before: number | undefined
    try {
      for (let pages = 0; before !== 0 && pages < pastPagesMax; pages++) {
        const page = await this.source.pastEvents(before, signal)
        if (page === undefined || signal.aborted) break
        this.record.addPast(page.events)
        before = page.before
        this.changed()
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
    this.isLoadingPast = false
  }

  /** A list may be large, so it is followed only while it is shown. */
  #followTable(): void {
    const { view, resource } = this.location
    this.#follow('list', this.#listing, view === 'objects' ? this.resourceOf(resource) : undefined)
  }

  /** Pods are followed while the map shows them. */
  #followPods(): void {
    this.#follow('map', this.#podListing, this.location.view === 'map' ? this.resourceOf('pods') : undefined)
  }

  #follow(place: 'list' | 'map', following: TableFollowing, resource: Resource | undefined): void {
    if (resource === undefined) return following.stop()
    this.failures.clear(place)
    following.follow(resource, this.location)
  }

  /** A report has no overview, so its home is the diagram. */
  get home(): ViewName {
    return this.source.summaries === undefined ? 'flows' : 'overview'
  }

  get views(): readonly ViewName[] {
    return viewNames.filter((view) => view !== 'overview' || this.home === view)
  }

  #followOverview(): void {
    const { view, revision, namespace } = this.location
    if (view === 'overview' && revision === undefined) this.overview.follow(namespace)
    else this.overview.stop()
  }

  /** What can be watched can be counted; other lists are computed with each request. */
  #followCounts(): void {
    const counted = this.resources.filter(({ verbs }) => !this.source.isLive || verbs.includes('watch'))
    this.counts.follow(counted, this.location.namespace)
  }

  #loadDetails(): void {
    const { object, revision } = this.location
    const resource = object === undefined ? undefined : this.resourceOfObject(object)
    this.details.select(resource, object, revision)
  }
}

/** The resources whose objects are usually owned by others. */
const ownedResources = [
  'replicasets.apps',
  'statefulsets.apps',
  'pods',
  'jobs.batch',
  'controllerrevisions.apps',
  'endpointslices.discovery.k8s.io',
  'persistentvolumeclaims',
]

function ignoreForbidden(error: unknown): readonly never[] {
  if (error instanceof RequestError && error.code === 403) return []
  throw error
}

/** The first version of each resource. */
const distinct = (resources: readonly Resource[]): readonly Resource[] => {
  const first = new Map<string, Resource>()
  for (const resource of resources) getOrInsert(first, resourceId(resource), () => resource)
  return [...first.values()]
}
