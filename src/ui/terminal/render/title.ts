// The title of a view, and its name in the last line.
import { visibleRows } from '../state/rows.ts'
import { objectText, type Resource } from '../state/resources.ts'
import { selectionOf } from '../state/scroll.ts'
import type { TableView, TextSource, View } from '../state/views.ts'

export function titleOf(view: View): { readonly text: string; readonly detail: string } {
  switch (view.kind) {
    case 'table':
      return { text: tableTitle(view), detail: view.filter === '' ? '' : `/${view.filter}` }
    case 'text':
      return { text: textTitle(view.source), detail: view.filter === '' ? '' : `/${view.filter}` }
    case 'flow':
      return {
        text:
          view.subject.object === undefined
            ? `flow between ${view.subject.between.replace('>', ' ↔ ')}`
            : `flow of ${objectText(view.subject.object)}`,
        detail: view.isFollowing ? '' : 'not following: <s>',
      }
    case 'map':
      return { text: 'map', detail: '' }
    default:
      return view satisfies never
  }
}

function tableTitle(view: TableView): string {
  const { source } = view
  const count = visibleRows(selectionOf(view)).length
  const counted = view.filter === '' ? `[${count}]` : `[${count} of ${view.rows.size}]`
  if (source.kind === 'containers') return `containers(${source.pod.namespace}/${source.pod.name})${counted}`
  if (source.kind !== 'list') return `${source.kind}${counted}`
  const place = source.resource.namespaced ? `(${source.namespace === '' ? 'all' : source.namespace})` : ''
  const selector = source.selector === undefined ? '' : ` of ${source.selector.text}`
  return `${source.resource.plural}${place}${counted}${selector}`
}

function textTitle(source: TextSource): string {
  switch (source.kind) {
    case 'describe':
    case 'yaml':
    case 'why':
      return `${source.kind === 'yaml' ? 'YAML' : source.kind} ${objectText(source.object)}`
    case 'logs':
      return `${source.isPrevious ? 'previous logs' : 'logs'} ${objectText(source.object)}${source.container === '' ? '' : ` [${source.container}]`}`
    case 'help':
      return 'help'
    case 'kinds':
      return 'kinds'
    default:
      return source satisfies never
  }
}

export function crumbOf(view: View): string {
  switch (view.kind) {
    case 'table':
      return view.source.kind === 'list' ? nameOf(view.source.resource) : view.source.kind
    case 'text':
      return view.source.kind
    default:
      return view.kind
  }
}

const nameOf = ({ plural }: Resource): string => plural
