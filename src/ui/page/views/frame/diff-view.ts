// A difference: added and removed lines, marked by a sign as well as by color.
import { html, type TemplateResult } from 'lit'
import type { DiffLine } from '../../model/line-diff.ts'

const signs = { same: ' ', added: '+', removed: '-', omitted: ' ' } as const

export const diffView = (lines: readonly DiffLine[]): TemplateResult =>
  html`<pre class="diff" tabindex="0">
${lines.map(({ kind, text }) => html`<span class=${kind}>${signs[kind]} ${text}${'\n'}</span>`)}</pre>`
