"""Fixtures that several files share, and the one list of tests that are slow."""

import gc
import re
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# How long a case takes is a matter of the machine.
settings.register_profile("setagree", deadline=None)
settings.load_profile("setagree")

# What starts processes, a browser or engines, or runs for long; -m "not slow" leaves it out.
SLOW = (
    "tests/coefficients/test_leave_one_out.py::test_any_study",
    "tests/coefficients/test_multivalued.py::test_expected_disagreement_by_enumeration",
    "tests/coefficients/test_replicates.py::test_any_study_and_any_weights",
    "tests/coefficients/test_replicates.py::test_every_pair",
    "tests/coefficients/test_score_interval.py::test_it_holds_where_t_does_not",
    "tests/coefficients/test_spread.py::TestStrata::test_exact_enumeration",
    "tests/coefficients/test_spread.py::test_coverage_of_a_population",
    "tests/command/test_app.py::TestProcess",
    "tests/command/test_label_files.py::test_wherever_a_distance_is_chosen",
    "tests/command/test_large.py",
    "tests/command/test_output.py::TestDescriptors::test_all_of_them",
    "tests/command/test_output.py::TestDescriptors::test_stderr",
    "tests/command/test_output.py::TestDescriptors::test_stdin",
    "tests/command/test_output.py::TestDescriptors::test_stdout_of_a_process",
    "tests/command/test_output.py::TestInputs::test_standard_input",
    "tests/command/test_output.py::test_lists_without_docstrings",
    "tests/command/test_page.py::TestSession::test_the_report",
    "tests/command/test_sources.py::TestTerminal::test_progress",
    "tests/command/test_sources.py::TestTerminal::test_results",
    "tests/command/test_views.py::TestDiagnose::test_it_uses_the_width_of_the_terminal",
    "tests/command/test_views.py::TestReport::test_page",
    "tests/credit/test_base.py::TestSmallProducts::test_threads_are_not_woken",
    "tests/credit/test_degrees.py::test_equal_the_distances",
    "tests/credit/test_overlap.py::TestPlan",
    "tests/credit/test_overlap.py::test_every_road_equals_the_definition",
    "tests/credit/test_overlap.py::test_the_chance_term_in_every_regime",
    "tests/credit/test_subsets.py::test_all_subsets_of_six_labels",
    "tests/diagnosis/test_labels.py::TestByLabel::test_a_rare_label_is_covered",
    "tests/diagnosis/test_labels.py::TestByLabel::test_each_label_is_a_study_of_yes_and_no",
    "tests/diagnosis/test_labels.py::TestConfusions::test_against_loops",
    "tests/diagnosis/test_labels.py::TestConfusions::test_large_and_small_sets_alike",
    "tests/diagnosis/test_rater_groups.py::TestDealing::test_it_holds_its_level",
    "tests/diagnosis/test_raters.py::TestByManyRaters",
    "tests/diagnosis/test_raters.py::TestByRater::test_change_is_a_paired_comparison",
    "tests/diagnosis/test_raters.py::TestByRater::test_habits_against_loops",
    "tests/diagnosis/test_raters.py::TestByUnit::test_against_loops",
    "tests/diagnosis/test_raters.py::test_the_best_of_six_raters_alike",
    "tests/diagnosis/test_sampled_groups.py::TestDomains::test_exact_enumeration_of_strata",
    "tests/diagnosis/test_sampled_groups.py::TestPlainCalls",
    "tests/distances/test_labelled.py::TestTransport::test_all_pairs_equal_the_linear_programme",
    "tests/exports/test_csv_tools.py::test_damaged_files_give_a_sentence",
    "tests/exports/test_csv_tools.py::test_hostile_labels_come_back",
    "tests/exports/test_json_tools.py::test_hostile_labels_come_back",
    "tests/exports/test_json_tools.py::test_wrong_types_never_end_in_a_traceback",
    "tests/files/test_formats.py::TestBounds::test_limited_memory",
    "tests/files/test_formats.py::TestPacked::test_a_cell_far_away",
    "tests/files/test_formats.py::TestParquet::test_bounded_address_space",
    "tests/files/test_formats.py::TestStandardInput::test_a_pipe",
    "tests/files/test_tables.py::TestSize::test_endless_line_in_bounded_memory",
    "tests/files/test_tables.py::TestSize::test_endless_line_of_text",
    "tests/files/test_tables.py::test_random_tables_come_back",
    "tests/inference/test_bootstrap.py::TestIntervals::test_equal_scipys",
    "tests/inference/test_bootstrap.py::TestRaters::test_any_weights",
    "tests/inference/test_bootstrap.py::TestRaters::test_equal_the_slow_loop",
    "tests/inference/test_bootstrap.py::TestReplicates::test_any_resample_of_any_study",
    "tests/inference/test_comparison.py::TestSeveral::test_holm_equals_statsmodels",
    "tests/inference/test_cross_replication.py::TestExact::test_random_raters_score_nothing",
    "tests/inference/test_decision_study.py::TestTruths",
    "tests/inference/test_within_units.py::TestManyRatings::test_reshuffles_equal_the_study_rewritten",
    "tests/inference/test_jackknife.py::TestPassingRaters::test_equals_the_rest_scored",
    "tests/inference/test_jackknife.py::TestRaters::test_any_study",
    "tests/inference/test_jackknife.py::TestUnits::test_any_study",
    "tests/inference/test_permutation.py::TestEveryReshuffle::test_any_study",
    "tests/inference/test_permutation.py::TestExactEnumeration::test_pooled_equals_all_permutations",
    "tests/inference/test_permutation.py::TestExactEnumeration::test_within_raters_equals_all_permutations",
    "tests/inference/test_permutation.py::TestPValues::test_uniform_under_the_null",
    "tests/inference/test_permutation.py::TestRareAnswers::test_memory",
    "tests/inference/test_plan_goals.py::TestCosts::test_a_curve_that_studies_follow",
    "tests/inference/test_plan_goals.py::TestDifferences::test_simulated",
    "tests/inference/test_plan_goals.py::TestPower::test_simulated",
    "tests/inference/test_planning.py::TestMultivalued::test_near_the_bootstrap",
    "tests/inference/test_planning.py::TestRaters::test_near_studies_with_more_raters",
    "tests/inference/test_two_way_intervals.py::test_coverage",
    "tests/large/test_clusters.py",
    "tests/large/test_files.py",
    "tests/large/test_interrupts.py",
    "tests/large/test_open_study.py::test_a_table_and_a_path_go_for_the_study",
    "tests/large/test_parity.py",
    "tests/large/test_pieces.py",
    "tests/large/test_raters.py::TestEngines",
    "tests/large/test_raters.py::TestMerge::test_forgetting",
    "tests/large/test_reduction.py",
    "tests/large/test_several.py::TestSeveral::test_a_pattern_is_its_list",
    "tests/large/test_several.py::TestSeveral::test_an_engine_names_both_files",
    "tests/large/test_where.py",
    "tests/panels/test_alt_power.py::TestAgainstSimulation",
    "tests/panels/test_consensus.py::TestDawidSkene::test_labels_together_as_one_by_one",
    "tests/panels/test_crowdtruth.py::TestLoops::test_any_study",
    "tests/panels/test_k_rater.py::TestExact::test_every_split",
    "tests/panels/test_rater_map.py::TestVerdict::test_noise_is_called_noise",
    "tests/plots/test_panels.py::TestAdvantage::test_names_of_marks_do_not_collide",
    "tests/plots/test_plots.py::test_any_size",
    "tests/plots/test_plots.py::test_hostile_names",
    "tests/plots/test_plots.py::test_import_is_light",
    "tests/plots/test_plots.py::test_no_formula_is_opened",
    "tests/plots/test_plots.py::test_svg_ids_are_its_own",
    "tests/plots/test_plots.py::test_svg_stands_alone",
    "tests/reporting/test_browser.py",
    "tests/reporting/test_models.py::test_on_the_page",
    "tests/reporting/test_report.py::TestNumbers::test_reshuffles_are_fewer_where_the_study_is_large",
    "tests/reporting/test_report.py::TestPage::test_fifty_thousand_ratings",
    "tests/reporting/test_report.py::TestPage::test_hostile_text_stays_text",
    "tests/reporting/test_report.py::TestPage::test_it_says_what_was_found",
    "tests/reporting/test_report.py::TestPage::test_negative_estimates_stand_on_the_ruler",
    "tests/reporting/test_report.py::TestPage::test_small_and_odd_studies",
    "tests/reporting/test_report.py::TestPage::test_the_same_seed_gives_the_same_file",
    "tests/reporting/test_report.py::TestPanels",
    "tests/reporting/test_report.py::TestWriting::test_a_browser_that_fails",
    "tests/reporting/test_sections.py::TestSampled::test_weights",
    "tests/reporting/test_sections.py::test_a_section_is_in_the_page",
    "tests/scoring/test_degrees.py::test_equal_the_reference",
    "tests/scoring/test_no_spread.py::TestBelowChance::test_random_raters_with_rare_labels",
    "tests/scoring/test_properties.py::test_alpha_is_zero_on_average_over_all_pooled_shuffles",
    "tests/scoring/test_properties.py::test_codebooks_equal_the_reference",
    "tests/scoring/test_properties.py::test_cohen_is_zero_on_average_over_all_shuffles_of_a_rater",
    "tests/scoring/test_properties.py::test_label_sets_equal_the_reference",
    "tests/scoring/test_properties.py::test_numbers_equal_the_reference",
    "tests/scoring/test_properties.py::test_seeded_studies_equal_the_reference",
    "tests/scoring/test_properties.py::test_two_raters_equal_the_reference",
    "tests/study/test_annotations.py::TestRoundTrips::test_contingency",
    "tests/study/test_annotations.py::TestRoundTrips::test_long_wide_indicators",
    "tests/study/test_exact_answers.py::TestSpelling::test_warning",
    "tests/study/test_exact_answers.py::test_parquet",
    "tests/study/test_exact_answers.py::test_text_files",
    "tests/study/test_frames.py::TestEconomy",
    "tests/study/test_frames.py::test_real_data",
    "tests/study/test_frames.py::test_round_trip",
    "tests/study/test_keys.py::TestNumbers::test_every_process_has_the_same",
    "tests/study/test_keys.py::TestUnits::test_files",
    "tests/study/test_names.py::TestHalves::test_bytes_of_the_command_line",
    "tests/study/test_names.py::TestWithout::test_groups_and_times",
    "tests/study/test_nulls.py::test_every_road",
    "tests/study/test_nulls.py::test_markers",
    "tests/study/test_sampling.py::TestReducedTables::test_refused",
    "tests/study/test_tally.py::TestFingerprints::test_equal_rows_become_one",
    "tests/test_architecture.py::test_doctests",
    "tests/test_architecture.py::test_few_rooms_know_each_other",
    "tests/test_architecture.py::test_functions_are_small",
    "tests/test_architecture.py::test_import_is_light",
    "tests/test_architecture.py::test_no_function_shadows_a_module",
    "tests/test_architecture.py::test_texts_for_python_alone_exist",
    "tests/test_architecture.py::test_the_import_test_sees_what_is_loaded",
    "tests/test_architecture.py::test_what_needs_no_data_is_quick",
    "tests/test_examples.py",
    "tests/test_fuzz.py",
    "tests/test_readme.py",
)

# Modules that build the site or start a browser once, and use it in each of their tests.
STARTED_ONCE = {"test_browser.py", "test_page_in_browser.py", "test_site.py"}


def pytest_collection_modifyitems(items):
    """Mark the slow tests; a name in the list that is gone is an error, not a silence."""
    for path, *names in (one.split("::") for one in SLOW):
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in names:
            if f" {name}" not in text:
                raise pytest.UsageError(f"tests/conftest.py lists {name} of {path}, which is gone")
    slow = re.compile(rf"(?:{'|'.join(map(re.escape, SLOW))})(?:::.*)?")
    for item in items:
        if slow.fullmatch(item.nodeid.partition("[")[0]):
            item.add_marker("slow")
    # What starts a process for a whole module comes first, where one worker gets all of its tests.
    items.sort(key=lambda item: item.path.name not in STARTED_ONCE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker neighbours, which share what a module sets up; the idle one steals."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection():
    """Let the garbage collector rest while tests and modules are made, which stay to the end."""
    gc.disable()


def pytest_collection_finish():
    """Spare the collector all of them from here on, and let it look more seldom."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 50)


def pytest_unconfigure():
    """Let the collector end what it was spared; some packages count what is left."""
    gc.unfreeze()


def pytest_runtest_teardown():
    """Close the pictures that a test, or an example of a docstring, leaves open."""
    if (pyplot := sys.modules.get("matplotlib.pyplot")) and pyplot.get_fignums():
        pyplot.close("all")


@pytest.fixture
def ctrl_c_is_heard():
    """Let SIGINT be heard here and by children, also where whoever started the tests ignores it.

    Background jobs inherit that they ignore it, and pass it on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
