// What the palette offers: views, kinds and actions of the page, objects that the cluster finds, and namespaces.
import type { FlowObject } from '../../../base/observability/flow-recorder.ts'
import { isForwarded, isNode, isPod, isRestartable, isScalable, isSuspendable } from '../../calls/workload-kinds.ts'
import { actionTexts, type ActionKind } from '../model/actions/action-texts.ts'
import { matching } from '../model/choices.ts'
import { kindLabel, kindSections } from '../model/kind-sections.ts'
import { elsewhere, viewLabels, type PageLocation, type ViewName } from '../model/permalink.ts'
import { RequestError } from '../source/requests.ts'
import { resourceId, type FoundObject, type Resource, type Source } from '../source/source.ts'
import type { ObjectActions } from './object-actions.ts'
import type { PaletteChoice, PaletteDeps, PaletteMode } from './palette.ts'

/** The page, as far as the palette uses it. */
export interface PaletteHost {
  readonly source: Source
  readonly resources: readonly Resource[]
  readonly views: readonly ViewName[]
  readonly location: PageLocation
  readonly time: { showPresent(): void }
  readonly palette: { open(mode: PaletteMode): void }
  go(change: Partial<PageLocation>): void
  linkTo(change: Partial<PageLocation>): string
  readonly canAct: boolean
  readonly actions: Pick<ObjectActions, 'ask'>
  resourceOf(id: string): Resource | undefined
  resourceOfObject(object: FlowObject): Resource | undefined
  startCreation(): void
  showHelp(): void
  logOut(): Promise<void>
}

export const paletteChoices =
  (host: PaletteHost): PaletteDeps['choices'] =>
  (mode) =>
    mode === 'namespace' ? [namespaceChoice(host, '')] : [...viewChoices(host), ...kindChoices(host), ...actions(host)]

export const paletteSearch = (host: PaletteHost): PaletteDeps['search'] => {
  let namespaces: readonly string[] = []
  return async (mode, text, signal) => {
    if (mode === 'search') {
      if (text === '') return []
      const found = await host.source.search(text, host.location.namespace, signal)
      return found.map((object) => objectChoice(host, object))
    }
    if (text === '') namespaces = await namespaceNames(host)
    const known = matching(
      namespaces.map((name) => namespaceChoice(host, name)),
      text,
    )
    // A user who may not list namespaces knows the name of one.
    return text === '' || namespaces.includes(text) ? known : [...known, namespaceChoice(host, text)]
  }
}

function opening(host: PaletteHost, change: Partial<PageLocation>): Pick<PaletteChoice, 'fragment' | 'run'> {
  return { fragment: host.linkTo(change), run: () => host.go(change) }
}

const viewChoices = (host: PaletteHost): PaletteChoice[] =>
  host.views
    .filter((view) => view !== 'objects')
    .map((view) => ({
      id: `view/${view}`,
      label: viewLabels[view],
      detail: 'view',
      ...opening(host, elsewhere(host.location, { view })),
    }))

const kindChoices = (host: PaletteHost): PaletteChoice[] =>
  kindSections(host.resources).flatMap(({ name, resources }) =>
    resources.map((resource) => ({
      id: `kind/${resourceId(resource)}`,
      label: kindLabel(resource),
      detail: `kind, ${name}`,
      ...opening(host, elsewhere(host.location, { view: 'objects', resource: resourceId(resource) })),
    })),
  )

function actions(host: PaletteHost): PaletteChoice[] {
  const action = (id: string, label: string, run: () => void, key?: string): PaletteChoice => ({
    id: `action/${id}`,
    label,
    detail: 'action',
    run,
    ...(key === undefined ? {} : { key }),
  })
  return [
    ...objectActions(host),
    ...(host.canAct ? [action('create', 'Create objects from YAML', () => host.startCreation())] : []),
    action('namespace', 'Choose the namespace', () => host.palette.open('namespace'), 'n'),
    ...(host.location.revision === undefined
      ? []
      : [action('now', 'Return to the present', () => host.time.showPresent())]),
    action('help', 'Help', () => host.showHelp(), '?'),
    ...(host.source.actions === undefined ? [] : [action('log-out', 'Log out', () => void host.logOut())]),
  ]
}

/** What can be done with the selected object. */
function objectActions(host: PaletteHost): PaletteChoice[] {
  const { object } = host.location
  const resource = object === undefined ? undefined : host.resourceOfObject(object)
  if (object === undefined || resource === undefined || !host.canAct) return []
  const { namespace, name } = object
  const choice = (kind: ActionKind): PaletteChoice => ({
    id: `action/${kind}`,
    label: `${actionTexts[kind].verb} ${resource.kind} ${name}`,
    detail: 'action',
    run: () => host.actions.ask(kind, resource, [{ metadata: { name, ...(namespace === '' ? {} : { namespace }) } }]),
  })
  return [
    ...(isScalable(resource) ? [choice('scale')] : []),
    ...(isRestartable(resource) ? [choice('restart'), choice('rollback')] : []),
    ...(isForwarded(resource) ? [choice('forward')] : []),
    ...(isPod(resource) ? [choice('debug')] : []),
    ...(isNode(resource) ? [choice('cordon'), choice('uncordon'), choice('drain')] : []),
    ...(isSuspendable(resource) ? [choice('suspend'), choice('resume')] : []),
    ...(resource.verbs.includes('delete') ? [choice('delete')] : []),
  ]
}

function objectChoice(host: PaletteHost, { resource: id, namespace, name }: FoundObject): PaletteChoice {
  const resource = host.resourceOf(id)
  const plural = resource?.plural ?? id
  const object = { resource: plural, namespace, name }
  return {
    id: `object/${id}/${namespace}/${name}`,
    label: name,
    detail: [resource?.kind ?? id, namespace].filter((text) => text !== '').join(', '),
    ...opening(host, elsewhere(host.location, { view: 'objects', resource: id, object })),
  }
}

/** The list remains, with what is in the namespace; an object of another one is closed. */
function namespaceChoice(host: PaletteHost, namespace: string): PaletteChoice {
  const { object } = host.location
  const isShown = namespace === '' || object === undefined || object.namespace === namespace
  return {
    id: `namespace/${namespace}`,
    label: namespace === '' ? 'All namespaces' : namespace,
    detail: '',
    ...opening(host, { namespace, ...(isShown ? {} : { object: undefined, event: undefined }) }),
  }
}

async function namespaceNames(host: PaletteHost): Promise<readonly string[]> {
  const resource = host.resourceOf('namespaces')
  if (resource === undefined) return []
  try {
    const objects = await host.source.list(resource, { namespace: '', revision: host.location.revision })
    return objects.map(({ metadata }) => metadata.name)
  } catch (error) {
    if (error instanceof RequestError && error.code === 403)
      throw new Error('You may not list namespaces. Type the name of one.', { cause: error })
    throw error
  }
}
