// Labels as kubectl shows them: a=b,c=d.
import { selectorText, type Labels } from '../selectors/selectors.ts'

export const labelsText = (labels: Labels | undefined): string =>
  selectorText({ matchLabels: labels ?? {} }) || '<none>'
