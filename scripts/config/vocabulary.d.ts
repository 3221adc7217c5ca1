import type { Rule } from 'eslint'

export const vagueWord: RegExp
export const vocabulary: Rule.RuleModule
